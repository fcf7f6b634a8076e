// UTF-8 as code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dist/core/fail.h"

namespace dist::data {

namespace utf8_detail {

inline bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The bytes of a character that begins with this one; 0: none does.
inline std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

// Too long for its value, half of a surrogate pair, or above the last one.
inline bool is_wrong(char32_t character, std::size_t length) {
  return (length == 3 && character < 0x800) || (length == 4 && character < 0x10000) ||
         (character >= 0xD800 && character < 0xE000) || character > 0x10FFFF;
}

struct Decoded {
  char32_t character = 0;
  std::size_t length = 0;   // 0: there is no character here
  bool is_partial = false;  // the text ends within it
};

inline Decoded first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = length_of(byte(0));
  char32_t character = length == 1 ? byte(0) : byte(0) & (0xFFU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if (k == text.size()) return {.is_partial = true};
    if (!is_continuation(byte(k))) return {};
    character = character << 6 | (byte(k) & 0x3FU);
  }
  if (length == 0 || is_wrong(character, length)) return {};
  return {character, length};
}

}  // namespace utf8_detail

// Decodes a text that comes in parts, each of which may end within a character.
class Utf8Decoder {
 public:
  // `what` names the text in errors.
  explicit Utf8Decoder(std::string_view what) : what_(what) {}

  // Calls f(code point). Throws Error{invalid_argument}, which names the first byte that is not UTF-8.
  template <class F>
  void decode(std::string_view part, const F& f) {
    while (!rest_.empty() && !part.empty()) {
      rest_ += part.front();
      part.remove_prefix(1);
      const auto [character, length, is_partial] = utf8_detail::first_of(rest_);
      if (is_partial) continue;
      if (length == 0) refuse(rest_[0]);
      f(character);
      at_ += length;
      rest_.clear();
    }
    while (!part.empty()) {
      const auto [character, length, is_partial] = utf8_detail::first_of(part);
      if (is_partial) {
        rest_ = part;
        return;
      }
      if (length == 0) refuse(part[0]);
      f(character);
      at_ += length;
      part.remove_prefix(length);
    }
  }
  // Throws the same if the text ends within a character.
  void finish() const {
    if (!rest_.empty()) refuse(rest_[0]);
  }

 private:
  [[noreturn]] void refuse(char byte) const {
    fail(Errc::invalid_argument,
         "{} is not UTF-8: byte {} (0x{:02x}) does not begin a character; save it as UTF-8, or take bytes as "
         "tokens",
         what_, at_, static_cast<unsigned char>(byte));
  }

  const std::string what_;
  std::uint64_t at_ = 0;  // bytes that are decoded
  std::string rest_;      // of a character that is not complete yet
};

}  // namespace dist::data
