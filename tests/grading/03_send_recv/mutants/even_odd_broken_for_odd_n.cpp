// Misconception: two phases serve every ring: pairs (0, 1), (2, 3), ..., then pairs (1, 2), (3, 4), ... The
// last link of an odd ring is in neither.
//
// Killed by: Part3Ring.odd_rings
// Diagnosis: even_odd_broken_for_odd_n
#include "mutant.h"
#define ring_shift right_ring_shift
#include DIST_SOLUTION
#undef ring_shift

namespace lab {

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  for (int phase = 0; phase < 2; ++phase) {
    if (n == 1) in.copy_(out);
    if (rank % 2 == phase && next % 2 != phase) dist::send(out, next);
    if (rank % 2 != phase && previous % 2 == phase) dist::recv(in, previous);
  }
}

}  // namespace lab
