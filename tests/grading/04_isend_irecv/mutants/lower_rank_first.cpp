// Misconception: two ranks that swap need an order, as with send and recv.
//
// Killed by: Part1Swap.both_directions_at_once
// Diagnosis: one_direction_after_the_other
#include "mutant.h"
#define swap_with right_swap_with
#include DIST_SOLUTION
#undef swap_with

namespace lab {

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  const int rank = dist::get_rank();
  if (rank == partner) return right_swap_with(mine, theirs, partner);
  if (rank < partner) dist::send(mine, partner);
  dist::recv(theirs, partner);
  if (rank > partner) dist::send(mine, partner);
}

}  // namespace lab
