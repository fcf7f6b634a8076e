// The vocabulary, then the blocks.
#include "dist/data/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/data/text_reader.h"

namespace dist::data {
namespace {

void append(std::string& text, char32_t character) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | (static_cast<unsigned>(character) >> shift & 0x3F));
  };
  const auto head = [&](unsigned mark, int shift) {
    text += static_cast<char>(mark | static_cast<unsigned>(character) >> shift);
  };
  if (character < 0x80) {
    head(0, 0);
  } else if (character < 0x800) {
    head(0xC0, 6), tail(0);
  } else if (character < 0x10000) {
    head(0xE0, 12), tail(6), tail(0);
  } else {
    head(0xF0, 18), tail(12), tail(6), tail(0);
  }
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::string text;
  read_text(file, [&text](std::string_view part) { text += part; });
  return text;
}

std::string utf8(std::span<const char32_t> code_points) {
  std::string text;
  for (const char32_t character : code_points) append(text, character);
  return text;
}

Vocabulary::Vocabulary(std::vector<char32_t> characters) : characters_(std::move(characters)) {
  if (std::ranges::adjacent_find(characters_, std::greater_equal{}) != characters_.end())
    fail(Errc::invalid_argument, "the characters of a vocabulary must be distinct and in ascending order");
}

Vocabulary Vocabulary::of_numbers(std::int64_t size) {
  if (size < 1) fail(Errc::invalid_argument, "a vocabulary of {} numbers; it must have at least 1", size);
  Vocabulary vocabulary({});
  vocabulary.numbers_ = size;
  return vocabulary;
}

std::int64_t Vocabulary::size() const {
  constexpr std::int64_t bytes = 256;
  return is_bytes() ? bytes : is_numbers() ? numbers_ : static_cast<std::int64_t>(characters_.size());
}

std::vector<Token> Vocabulary::encode_numbers(std::string_view text, std::string_view what) const {
  std::vector<Token> tokens;
  for (auto begin = text.find_first_not_of(", \n"); begin != text.npos;
       begin = text.find_first_not_of(", \n", begin)) {
    const auto word = text.substr(begin, text.find_first_of(", \n", begin) - begin);
    Token token = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || stop != word.data() + word.size() || token < 0 || token >= numbers_)
      fail(Errc::invalid_argument,
           "{} has \"{}\", but its tokens are numbers from 0 to {}; write them as in \"1, 2\"", what, word,
           numbers_ - 1);
    tokens.push_back(token);
    begin += word.size();
  }
  if (tokens.empty()) fail(Errc::invalid_argument, "{} has no tokens; write numbers, as in \"1, 2\"", what);
  return tokens;
}

Vocabulary Vocabulary::of_chars(std::string_view text, std::string_view what) {
  CharacterSet characters(what);
  characters.add(text);
  return characters.finish();
}

std::vector<Token> Vocabulary::encode(std::string_view text, std::string_view what) const {
  if (is_numbers()) return encode_numbers(text, what);
  Encoder encoder(*this, what);
  encoder.add(text);
  const TokenList list = encoder.finish();
  const TokenSpan tokens = list;
  std::vector<Token> all(tokens.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = tokens[i];
  return all;
}

std::string Vocabulary::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    if (token < 0 || token >= size())
      fail(Errc::invalid_argument, "{} is not a token of a vocabulary of {}", token, size());
    if (is_bytes()) {
      text += static_cast<char>(token);
    } else if (is_numbers()) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", token);
    } else {
      append(text, characters_[static_cast<std::size_t>(token)]);
    }
  }
  return text;
}

TextSplit split_text(TokenSpan tokens) {
  const std::size_t train = tokens.size() - tokens.size() / 10;
  return {tokens.first(train), tokens.subspan(train)};
}

TextDataset::TextDataset(TokenSpan tokens, TextDatasetOptions options, std::string_view what)
    : tokens_(tokens), options_(options) {
  if (options.context < 1 || options.stride < 1)
    fail(Errc::invalid_argument, "blocks of {}, every {}: both must be at least 1",
         counted(options.context, "token"), counted(options.stride, "token"));
  if (static_cast<std::int64_t>(tokens.size()) <= options.context)
    fail(Errc::invalid_argument,
         "{} has {}, but a block has {} (a context of {}, and the token after it): take a longer text or a "
         "smaller context",
         what, counted(tokens.size(), "token"), options.context + 1, options.context);
}

std::int64_t TextDataset::size() const {
  return (static_cast<std::int64_t>(tokens_.size()) - options_.context - 1) / options_.stride + 1;
}

Sample TextDataset::get(std::int64_t index) const {
  if (index < 0 || index >= size())
    fail(Errc::invalid_argument, "there is no block {}; a text of {} has 0 to {}", index,
         counted(size(), "block"), size() - 1);
  const TokenSpan block = tokens_.subspan(static_cast<std::size_t>(index * options_.stride));
  Sample sample{empty({options_.context}, DType::i64, cpu), empty({options_.context}, DType::i64, cpu)};
  const auto input = sample.input.data<std::int64_t>(), target = sample.target.data<std::int64_t>();
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = block[i], target[i] = block[i + 1];
  return sample;
}

}  // namespace dist::data
