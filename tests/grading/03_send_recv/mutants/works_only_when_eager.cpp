// Misconception: it ran on my machine, so it is right. With buffered sends every rank reaches its receive;
// with sends that wait no rank does.
//
// Killed by: Part3Ring.even_rings
// Diagnosis: works_only_when_eager
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (n == 1) {
    in.copy_(out);
    return;
  }
  dist::send(out, (rank + 1) % n);
  dist::recv(in, (rank + n - 1) % n);
}

}  // namespace lab
