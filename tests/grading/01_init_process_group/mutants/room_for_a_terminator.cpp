// Misconception: a text ends with a zero, so one byte is kept for it.
//
// Killed by: Part4Text.packs_with_zeros_to_the_end
// Diagnosis: room_for_a_terminator
#include "mutant.h"
#define pack right_pack
#include DIST_SOLUTION
#undef pack

namespace lab {

dist::Tensor pack(const std::string& text, std::int64_t size) {
  dist::Tensor packed = dist::zeros({size}, dist::DType::u8);
  const auto fitting = right_pack(text, std::max<std::int64_t>(size - 1, 0));
  packed.narrow(0, fitting.numel()).copy_(fitting);
  return packed;
}

}  // namespace lab
