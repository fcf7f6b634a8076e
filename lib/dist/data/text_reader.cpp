#include "dist/data/text_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

namespace dist::data {
namespace {

constexpr std::size_t most_named = 8;  // characters in one message
constexpr Token no_token = -1;

// "\"é\", \"ß\" and 3 more"
std::string named(std::vector<char32_t> characters) {
  std::ranges::sort(characters);
  std::string text;
  for (const char32_t character : std::span(characters).first(std::min(most_named, characters.size()))) {
    if (!text.empty()) text += ", ";
    text += character < ' ' ? fmt::format("U+{:04X}", static_cast<unsigned>(character))
                            : fmt::format("\"{}\"", utf8({&character, 1}));
  }
  if (characters.size() > most_named) text += fmt::format(" and {} more", characters.size() - most_named);
  return text;
}

}  // namespace

void read_text(const std::filesystem::path& file, const std::function<void(std::string_view part)>& take) {
  refuse_device("the text", file);
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored))
    fail(Errc::invalid_argument,
         "the text {} is a pipe, but it is read more than once; write it to a file first", file.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rbe"), &std::fclose);
  if (!in) fail_errno(Errc::resource, errno, fmt::format("cannot read the text {}", file.string()));
  std::vector<char> part(std::size_t{1} << 20);
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), in.get()))
    take({part.data(), count});
  if (std::ferror(in.get()) != 0)
    fail_errno(Errc::resource, errno, fmt::format("cannot read the text {}", file.string()));
}

Vocabulary CharacterSet::finish() const {
  decoder_.finish();
  std::vector<char32_t> characters;
  for (std::size_t i = 0; i < seen_.size(); ++i)
    if (seen_[i]) characters.push_back(static_cast<char32_t>(i));
  if (characters.empty())
    fail(Errc::invalid_argument, "{} is empty; there is nothing to learn from it", what_);
  return Vocabulary(std::move(characters));
}

Encoder::Encoder(const Vocabulary& vocabulary, std::string_view what, std::size_t most)
    : vocabulary_(vocabulary), what_(what), decoder_(what), tokens_(vocabulary.size()) {
  tokens_.reserve(most);
  const auto& characters = vocabulary.characters();
  if (characters.empty()) return;
  token_of_.assign(std::size_t{characters.back()} + 1, no_token);
  for (std::size_t i = 0; i < characters.size(); ++i) token_of_[characters[i]] = static_cast<Token>(i);
}

void Encoder::add(std::string_view part) {
  if (vocabulary_.is_bytes()) {
    for (const char byte : part) tokens_.push_back(static_cast<unsigned char>(byte));
  } else if (vocabulary_.is_numbers()) {
    for (const char byte : part) add_number(static_cast<unsigned char>(byte));
  } else {
    decoder_.decode(part, [this](char32_t character) {
      const Token token = character < token_of_.size() ? token_of_[character] : no_token;
      if (token != no_token)
        tokens_.push_back(token);
      else if (std::ranges::find(unknown_, character) == unknown_.end())
        unknown_.push_back(character);
    });
  }
}

void Encoder::add_number(unsigned char byte) {
  if (low_ < 0) {
    low_ = byte;
    return;
  }
  const Token token = low_ | byte << 8;
  low_ = -1;
  if (token >= vocabulary_.size())
    fail(Errc::invalid_argument,
         "{} has the number {} at {}, but the model has {} tokens; were they made for another model?", what_,
         token, tokens_.size(), vocabulary_.size());
  tokens_.push_back(token);
}

TokenList Encoder::finish() {
  decoder_.finish();
  if (low_ >= 0)
    fail(Errc::invalid_argument,
         "{} has {} bytes, but each number takes two; is it a file of 16-bit numbers?", what_,
         2 * tokens_.size() + 1);
  if (!unknown_.empty())
    fail(Errc::invalid_argument, "{} has characters that are not in the vocabulary: {}", what_,
         named(std::move(unknown_)));
  return std::move(tokens_);
}

}  // namespace dist::data
