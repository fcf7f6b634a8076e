// Misconception: in a ring only the rank before sends to a rank, so its number does not matter. (The program
// around the call may have messages of its own.)
//
// Killed by: Part1ReduceScatter.any_number_of_ranks
// Diagnosis: takes_any_message
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
    Work arrival = dist::irecv(arriving);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

}  // namespace lab
