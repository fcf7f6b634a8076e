// Misconception: a sum does not depend on the order, so a rank adds what comes, from any rank.
//
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: takes_any_message
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size(), bit = lowest_bit(rank, n);
  Tensor received = dist::empty_like(data);
  for (int distance = 1; distance < bit && rank + distance < n; distance *= 2) {
    dist::recv(received);
    data.add_(received);
  }
  if (rank != 0) dist::send(data, rank - bit);
  broadcast_from_0(data);
}

}  // namespace lab
