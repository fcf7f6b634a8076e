// Misconception: a ring is free of deadlock if one rank begins. It is, but every other rank waits for its
// turn.
//
// Killed by: Part3Ring.at_most_three_rounds
// Diagnosis: one_after_the_other
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  if (n == 1) {
    in.copy_(out);
  } else if (rank == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

}  // namespace lab
