// Misconception: a new tensor is full of zeros. Only zeros() guarantees this; empty() keeps what was in the
// memory before.
//
// Killed by: Part4Text.packs_with_zeros_to_the_end
// Diagnosis: not_padded
#include "mutant.h"
#define pack right_pack
#include DIST_SOLUTION
#undef pack

namespace lab {

dist::Tensor pack(const std::string& text, std::int64_t size) {
  auto packed = dist::empty({size}, dist::DType::u8);
  const auto length = bytes_that_fit(text, static_cast<std::size_t>(size));
  std::copy_n(text.begin(), length, packed.data<std::uint8_t>().begin());
  return packed;
}

}  // namespace lab
