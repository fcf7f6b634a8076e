// A text as numbers for a language model: a vocabulary of characters or bytes, and a dataset of blocks.
//
//   const auto text = data::read_text("book.txt");   // a large one in parts: text_reader.h
//   const auto vocabulary = data::Vocabulary::of_chars(text, "book.txt");
//   const auto tokens = vocabulary.encode(text, "book.txt");
//   const auto [train, validation] = data::split_text(tokens);
//   const data::TextDataset blocks(train, {.context = 128});
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/data/dataset.h"

namespace dist::data {

using Token = std::int32_t;  // 0 to Vocabulary::size() - 1

// A view of tokens that take 1, 2 or 4 bytes each.
class TokenSpan {
 public:
  TokenSpan() = default;
  TokenSpan(std::span<const Token> tokens) : TokenSpan(tokens.data(), tokens.size(), sizeof(Token)) {}
  TokenSpan(const std::vector<Token>& tokens) : TokenSpan(std::span(tokens)) {}
  TokenSpan(const void* data, std::size_t size, std::size_t width)
      : data_(static_cast<const std::byte*>(data)), size_(size), width_(width) {}

  std::size_t size() const { return size_; }
  Token operator[](std::size_t i) const {
    std::uint32_t token = 0;
    for (std::size_t k = width_; k-- > 0;)
      token = token << 8 | std::to_integer<std::uint32_t>(data_[i * width_ + k]);
    return static_cast<Token>(token);
  }
  TokenSpan first(std::size_t count) const { return {data_, count, width_}; }
  TokenSpan subspan(std::size_t begin) const { return {data_ + begin * width_, size_ - begin, width_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0, width_ = 1;  // little endian
};

// Tokens in as little memory as possible.
class TokenList {
 public:
  // Its tokens are less than `vocabulary_size`, which says how many bytes each takes.
  explicit TokenList(std::int64_t vocabulary_size = std::int64_t{1} << 31)
      : width_(vocabulary_size <= 1 << 8    ? 1
               : vocabulary_size <= 1 << 16 ? 2
                                            : 4) {}

  void reserve(std::size_t tokens) { bytes_.reserve(tokens * width_); }
  void push_back(Token token) {
    for (std::size_t k = 0; k < width_; ++k) bytes_.push_back(static_cast<std::byte>(token >> 8 * k));
  }
  std::size_t size() const { return bytes_.size() / width_; }
  operator TokenSpan() const& { return {bytes_.data(), size(), width_}; }
  operator TokenSpan() && = delete;  // nothing would be left of it

 private:
  std::size_t width_;
  std::vector<std::byte> bytes_;
};

// All bytes of the file. Throws Error{resource}, which names it, if it cannot be read, and
// Error{invalid_argument} for a pipe or a device, since every rank reads the text.
std::string read_text(const std::filesystem::path& file);

std::string utf8(std::span<const char32_t> code_points);

// Which token stands for which character. A token of bytes is the byte itself; one of numbers, which another
// program has made of a text, stands for nothing that is known here.
class Vocabulary {
 public:
  static Vocabulary of_bytes() { return Vocabulary({}); }
  // The characters (code points) of the text, in ascending order. `what` names the text in errors. Throws
  // Error{invalid_argument} for an empty text and for one that is not UTF-8.
  static Vocabulary of_chars(std::string_view text, std::string_view what);
  // As many tokens as `size`, whose texts are their numbers in decimal: "15496, 11". Throws
  // Error{invalid_argument} for a size below 1.
  static Vocabulary of_numbers(std::int64_t size);
  // For a vocabulary that was saved: characters in ascending order; none: bytes.
  explicit Vocabulary(std::vector<char32_t> characters);

  bool is_bytes() const { return characters_.empty() && numbers_ == 0; }
  bool is_numbers() const { return numbers_ > 0; }
  std::int64_t size() const;
  const std::vector<char32_t>& characters() const { return characters_; }

  // `what` names the text in errors: "the prompt". Throws Error{invalid_argument} for a text that is not
  // UTF-8, for characters that the vocabulary lacks, which it names, and for what is not one of the numbers.
  std::vector<Token> encode(std::string_view text, std::string_view what) const;
  // With tokens that are bytes, the result need not be UTF-8. Throws Error{invalid_argument} for a number
  // that is not a token.
  std::string decode(std::span<const Token> tokens) const;

 private:
  std::vector<Token> encode_numbers(std::string_view text, std::string_view what) const;

  std::vector<char32_t> characters_;
  std::int64_t numbers_ = 0;
};

struct TextSplit {
  TokenSpan train, validation;
};
// The last tenth is for validation. The tokens must outlive the result.
TextSplit split_text(TokenSpan tokens);

struct TextDatasetOptions {
  std::int64_t context = 128;  // tokens of a sample
  std::int64_t stride = 1;     // tokens from the beginning of a block to that of the next one
};

// Blocks of context + 1 tokens. Block i begins at token i * stride: input i64 [context], and target i64
// [context], the same one token later. With a stride of 1 and a sampler that shuffles, these are blocks at
// random places; with a stride of `context`, every token is a target once.
class TextDataset : public Dataset {
 public:
  // The tokens must outlive the dataset. `what` names them in errors: "the training part of book.txt".
  // Throws Error{invalid_argument} for fewer tokens than a block has, and for a context or stride below 1.
  TextDataset(TokenSpan tokens, TextDatasetOptions options, std::string_view what = "the text");

  std::int64_t size() const override;
  Sample get(std::int64_t index) const override;

 private:
  TokenSpan tokens_;
  TextDatasetOptions options_;
};

}  // namespace dist::data
