// Reads a text in parts, so that it is never in memory as a whole.
//
//   CharacterSet characters("book.txt");
//   read_text("book.txt", [&](std::string_view part) { characters.add(part); });
//   const Vocabulary vocabulary = characters.finish();
//   Encoder encoder(vocabulary, "book.txt");
//   read_text("book.txt", [&](std::string_view part) { encoder.add(part); });
//   const TokenList tokens = encoder.finish();
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/data/text.h"
#include "dist/data/utf8.h"

namespace dist::data {

// Calls `take` with all bytes of the file, in parts of at most 1 MiB, which may end anywhere. Throws
// Error{resource}, which names the file, if it cannot be read, and Error{invalid_argument} for a pipe or a
// device, since every rank reads the text.
void read_text(const std::filesystem::path& file, const std::function<void(std::string_view part)>& take);

// The characters that occur in a text. `what` names it in errors.
class CharacterSet {
 public:
  explicit CharacterSet(std::string_view what) : what_(what), decoder_(what), seen_(0x110000) {}
  // Throws Error{invalid_argument} for a text that is not UTF-8.
  void add(std::string_view part) {
    decoder_.decode(part, [this](char32_t character) { seen_[character] = true; });
  }
  // Throws the same, and for an empty text.
  Vocabulary finish() const;

 private:
  const std::string what_;
  Utf8Decoder decoder_;
  std::vector<bool> seen_;
};

// A text as tokens; of a vocabulary of numbers, which the text has as two bytes each, little endian, as
// nanoGPT's train.bin.
class Encoder {
 public:
  // The vocabulary must outlive it. `what` names the text in errors; memory for `most` tokens is taken at
  // once.
  Encoder(const Vocabulary& vocabulary, std::string_view what, std::size_t most = 0);
  // Throws Error{invalid_argument} for a text that is not UTF-8, and for a number that is not in the
  // vocabulary.
  void add(std::string_view part);
  // Throws the same, for characters that the vocabulary lacks, which it names, and for half a number.
  TokenList finish();

 private:
  void add_number(unsigned char byte);

  const Vocabulary& vocabulary_;
  const std::string what_;
  Utf8Decoder decoder_;
  std::vector<Token> token_of_;  // by the character
  std::vector<char32_t> unknown_;
  int low_ = -1;  // the first byte of a number
  TokenList tokens_;
};

}  // namespace dist::data
