// Misconception: -1 % n is n - 1. This is true in Python; in C++ it is -1.
//
// Killed by: Part3Ring.even_rings
// Diagnosis: negative_remainder
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank - 1) % n;
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
