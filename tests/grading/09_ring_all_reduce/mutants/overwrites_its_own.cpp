// Misconception: a chunk has its place in the data, so that is where it arrives. (And the own numbers are
// gone.)
//
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: overwrites_its_own
#include "mutant.h"
#define reduce_scatter right_reduce_scatter
#include DIST_SOLUTION
#undef reduce_scatter

namespace lab {

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 2), ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
  }
}

}  // namespace lab
