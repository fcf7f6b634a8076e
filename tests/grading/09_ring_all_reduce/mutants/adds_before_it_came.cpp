// Misconception: the numbers have arrived when irecv returns, and wait() is for the end.
//
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: adds_before_it_came
#include "mutant.h"
#define reduce_scatter right_reduce_scatter
#include DIST_SOLUTION
#undef reduce_scatter

namespace lab {

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    add(mine, arriving);
    arrival.wait();
  }
}

}  // namespace lab
