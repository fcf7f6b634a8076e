// A text as numbers for a language model: a vocabulary of characters or bytes, and a dataset of blocks.
//
//   const auto text = data::read_text("book.txt");
//   const auto vocabulary = data::Vocabulary::of_chars(text, "book.txt");
//   const auto tokens = vocabulary.encode(text);
//   const auto [train, validation] = data::split_text(tokens);
//   const data::TextDataset blocks(train, {.context = 128});
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/data/dataset.h"

namespace dist::data {

using Token = std::int32_t;  // 0 to Vocabulary::size() - 1

// All bytes of the file. Throws Error{resource}, which names it, if it cannot be read, and
// Error{invalid_argument} for a pipe or a device, since every rank reads the text.
std::string read_text(const std::filesystem::path& file);

// The numbers of a file with two bytes for each, little endian, as nanoGPT's train.bin; `bytes` are its
// contents. Throws Error{invalid_argument}, which begins with `what`, for a single byte at the end.
std::vector<Token> tokens_of_u16(std::string_view bytes, std::string_view what);

// The code points of a UTF-8 text. Throws Error{invalid_argument}, whose text begins with `what` and names
// the first byte that is not UTF-8.
std::vector<char32_t> code_points(std::string_view utf8, std::string_view what);
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
  std::span<const Token> train, validation;
};
// The last tenth is for validation. The tokens must outlive the result.
TextSplit split_text(std::span<const Token> tokens);

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
  TextDataset(std::span<const Token> tokens, TextDatasetOptions options, std::string_view what = "the text");

  std::int64_t size() const override;
  Sample get(std::int64_t index) const override;

 private:
  std::span<const Token> tokens_;
  TextDatasetOptions options_;
};

}  // namespace dist::data
