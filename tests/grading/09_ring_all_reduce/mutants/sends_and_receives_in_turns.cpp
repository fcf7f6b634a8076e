// Misconception: even ranks send first and odd ranks receive first, and no time is lost by it.
//
// Killed by: Part1ReduceScatter.one_chunk_a_step
// Diagnosis: sends_and_receives_in_turns
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
    if (ring.rank % 2 == 0) dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    dist::recv(arriving, ring.before);
    if (ring.rank % 2 == 1) dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    add(mine, arriving);
  }
}

}  // namespace lab
