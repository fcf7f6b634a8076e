// Files and UTF-8 first, then the vocabulary, then the blocks.
#include "dist/data/text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/whole_file.h"

namespace dist::data {
namespace {

constexpr std::size_t most_named = 8;  // characters in one message

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The bytes of a character that begins with this one; 0: none does.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

// Too long for its value, half of a surrogate pair, or above the last one.
bool is_wrong(char32_t character, std::size_t length) {
  return (length == 3 && character < 0x800) || (length == 4 && character < 0x10000) ||
         (character >= 0xD800 && character < 0xE000) || character > 0x10FFFF;
}

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

// "\"é\", \"ß\" and 3 more"
std::string named(const std::vector<char32_t>& characters) {
  std::string text;
  for (const char32_t character : std::span(characters).first(std::min(most_named, characters.size()))) {
    if (!text.empty()) text += ", ";
    text += character < ' ' ? fmt::format("U+{:04X}", static_cast<unsigned>(character))
                            : fmt::format("\"{}\"", utf8({&character, 1}));
  }
  if (characters.size() > most_named) text += fmt::format(" and {} more", characters.size() - most_named);
  return text;
}

std::vector<char32_t> distinct(std::vector<char32_t> characters) {
  std::ranges::sort(characters);
  const auto again = std::ranges::unique(characters);
  characters.erase(again.begin(), again.end());
  return characters;
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  refuse_device("the text", file);
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored))
    fail(Errc::invalid_argument,
         "the text {} is a pipe, but it is read more than once; write it to a file first", file.string());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rbe"), &std::fclose);
  if (!in) fail_errno(Errc::resource, errno, fmt::format("cannot read the text {}", file.string()));
  std::string text;
  char part[1 << 16];
  while (const std::size_t count = std::fread(part, 1, sizeof part, in.get())) text.append(part, count);
  if (std::ferror(in.get()) != 0)
    fail_errno(Errc::resource, errno, fmt::format("cannot read the text {}", file.string()));
  return text;
}

std::vector<Token> tokens_of_u16(std::string_view bytes, std::string_view what) {
  if (bytes.size() % 2 != 0)
    fail(Errc::invalid_argument,
         "{} has {} bytes, but each number takes two; is it a file of 16-bit numbers?", what, bytes.size());
  std::vector<Token> tokens(bytes.size() / 2);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<unsigned char>(bytes[2 * i]) | static_cast<unsigned char>(bytes[2 * i + 1]) << 8;
  return tokens;
}

std::vector<char32_t> code_points(std::string_view utf8, std::string_view what) {
  std::vector<char32_t> all;
  all.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(utf8[i + offset]); };
    const std::size_t length = length_of(byte(0));
    bool good = length > 0 && i + length <= utf8.size();
    char32_t character = length == 1 ? byte(0) : byte(0) & (0xFFU >> (length + 1));
    for (std::size_t k = 1; good && k < length; ++k) {
      good = is_continuation(byte(k));
      character = character << 6 | (byte(k) & 0x3FU);
    }
    if (!good || is_wrong(character, length))
      fail(Errc::invalid_argument,
           "{} is not UTF-8: byte {} (0x{:02x}) does not begin a character; save it as UTF-8, or take bytes "
           "as "
           "tokens",
           what, i, byte(0));
    all.push_back(character);
    i += length;
  }
  return all;
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
  if (text.empty()) fail(Errc::invalid_argument, "{} is empty; there is nothing to learn from it", what);
  return Vocabulary(distinct(code_points(text, what)));
}

std::vector<Token> Vocabulary::encode(std::string_view text, std::string_view what) const {
  if (is_bytes()) {
    std::vector<Token> tokens;
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  if (is_numbers()) return encode_numbers(text, what);
  const auto characters = code_points(text, what);
  std::vector<Token> tokens(characters.size());
  std::vector<char32_t> unknown;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto found = std::ranges::lower_bound(characters_, characters[i]);
    if (found == characters_.end() || *found != characters[i]) unknown.push_back(characters[i]);
    tokens[i] = static_cast<Token>(found - characters_.begin());
  }
  if (!unknown.empty())
    fail(Errc::invalid_argument, "{} has characters that are not in the vocabulary: {}", what,
         named(distinct(std::move(unknown))));
  return tokens;
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

TextSplit split_text(std::span<const Token> tokens) {
  const std::size_t train = tokens.size() - tokens.size() / 10;
  return {tokens.first(train), tokens.subspan(train)};
}

TextDataset::TextDataset(std::span<const Token> tokens, TextDatasetOptions options, std::string_view what)
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
  const auto block = tokens_.subspan(static_cast<std::size_t>(index * options_.stride),
                                     static_cast<std::size_t>(options_.context) + 1);
  Sample sample{empty({options_.context}, DType::i64, cpu), empty({options_.context}, DType::i64, cpu)};
  std::ranges::copy(block.first(block.size() - 1), sample.input.data<std::int64_t>().begin());
  std::ranges::copy(block.subspan(1), sample.target.data<std::int64_t>().begin());
  return sample;
}

}  // namespace dist::data
