// Misconception: an all_reduce adds what arrives in every step.
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: sums_twice
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  reduce_scatter(data);
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 1);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

}  // namespace lab
