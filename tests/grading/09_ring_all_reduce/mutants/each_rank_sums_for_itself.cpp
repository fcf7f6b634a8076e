// Misconception: a sum does not depend on the order, so every rank adds what it receives, beginning with its
// own numbers.
//
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define ring_all_reduce right_ring_all_reduce
#include DIST_SOLUTION
#undef ring_all_reduce

namespace lab {

void ring_all_reduce(Tensor& data) {
  const Ring ring(data);
  Tensor passing = data.clone(), arriving = dist::empty_like(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(passing, ring.next);
    arrival.wait();
    add(data, arriving);
    passing.copy_(arriving);
  }
}

}  // namespace lab
