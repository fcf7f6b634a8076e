// Misconception: one character is one byte.
//
// Killed by: Part4Text.cuts_between_characters
// Diagnosis: cut_within_a_character
#include "mutant.h"
#define pack right_pack
#include DIST_SOLUTION
#undef pack

namespace lab {

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::zeros({size}, dist::DType::u8);
  const auto length = std::min(text.size(), static_cast<std::size_t>(size));
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

}  // namespace lab
