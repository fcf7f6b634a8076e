// Misconception: each rank receives from the rank after it.
//
// Killed by: Part3Ring.even_rings
// Diagnosis: wrong_way_round
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + n - 1) % n, previous = (rank + 1) % n;
  if (n == 1) {
    in.copy_(out);
  } else if (rank % 2 == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

}  // namespace lab
