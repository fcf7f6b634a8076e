// Misconception: a sum does not depend on the order, so every rank adds what it receives, beginning with its
// own numbers.
//
// Killed by: Part2AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor passing = data.clone(), received = dist::empty_like(data);
  for (int step = 0; step < n - 1; ++step) {
    auto arrival = dist::irecv(received, (rank + n - 1) % n);
    dist::send(passing, (rank + 1) % n);
    arrival.wait();
    data.add_(received);
    passing.copy_(received);
  }
}

}  // namespace lab
