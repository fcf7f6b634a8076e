// Misconception: a message that was sent is gone; only a receive must be waited for.
//
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: forgets_a_wait
#include "mutant.h"
#define swap_with right_swap_with
#include DIST_SOLUTION
#undef swap_with

namespace lab {

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  dist::isend(mine, partner);
  Work coming = dist::irecv(theirs, partner);
  coming.wait();
}

}  // namespace lab
