// Misconception: only the partner sends to this rank, so its number matters for the send only. (Another rank
// may be ahead, in a later swap.)
//
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: calls_mixed
#include "mutant.h"
#define swap_with right_swap_with
#include DIST_SOLUTION
#undef swap_with

namespace lab {

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  Work coming = dist::irecv(theirs), going = dist::isend(mine, partner);
  coming.wait();
  going.wait();
}

}  // namespace lab
