// Misconception: isend is a faster send, so the program may wait for it immediately.
//
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: waits_before_all_have_started
#include "mutant.h"
#define swap_with right_swap_with
#include DIST_SOLUTION
#undef swap_with

namespace lab {

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  dist::isend(mine, partner).wait();
  dist::irecv(theirs, partner).wait();
}

}  // namespace lab
