// Misconception: a ring of one rank is a ring like any other, and a rank may send to itself. A rank that is
// in send cannot receive.
//
// Killed by: Part3Ring.a_ring_of_one
// Diagnosis: ring_of_one
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  if (rank % 2 == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

}  // namespace lab
