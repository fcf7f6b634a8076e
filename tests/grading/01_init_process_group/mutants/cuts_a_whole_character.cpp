// Misconception: a text that was cut always ends in the middle of a character. Its last character may be
// complete.
//
// Killed by: Part4Text.cuts_between_characters
// Diagnosis: cuts_a_whole_character
#include "mutant.h"
#define pack right_pack
#include DIST_SOLUTION
#undef pack

namespace lab {

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::zeros({size}, dist::DType::u8);
  auto length = std::min(text.size(), static_cast<std::size_t>(size));
  if (length < text.size()) {
    while (length > 0 && continues_a_character(text[length - 1])) --length;
    if (length > 0 && static_cast<unsigned char>(text[length - 1]) >= 0xC0) --length;
  }
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

}  // namespace lab
