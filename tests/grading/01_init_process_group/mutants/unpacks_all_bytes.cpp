// Misconception: the text is all bytes of the tensor.
//
// Killed by: Part4Text.unpacks_up_to_the_first_zero
// Diagnosis: zeros_kept
#include "mutant.h"
#define unpack right_unpack
#include DIST_SOLUTION
#undef unpack

namespace lab {

std::string unpack(const dist::Tensor& packed) {
  const auto bytes = packed.data<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace lab
