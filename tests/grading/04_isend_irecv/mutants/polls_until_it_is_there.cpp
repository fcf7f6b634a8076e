// Misconception: is_completed() tells when a Work is done, so a loop over it is a wait.
//
// Killed by: Part1Swap.both_directions_at_once
// Diagnosis: polls_instead_of_waiting
#include "mutant.h"
#define swap_with right_swap_with
#include DIST_SOLUTION
#undef swap_with

namespace lab {

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  Work coming = dist::irecv(theirs, partner), going = dist::isend(mine, partner);
  while (!coming.is_completed() || !going.is_completed()) {
  }
}

}  // namespace lab
