// Misconception: a chunk has its position in the data, so it is received there. (This overwrites the rank's
// own numbers.)
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
