// Misconception: `in = ...` fills the memory of `in`. It binds the variable to another tensor, as in
// another_name.
//
// Killed by: Part3Ring.a_ring_of_one
// Diagnosis: another_name
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  auto received = dist::empty_like(in);
  right_ring_shift(out, received);
  in = received;
}

}  // namespace lab
