// Misconception: rank 0 collects from every rank and then sends to every rank.
//
// Killed by: Part2AllReduce.up_and_down_a_tree
// Diagnosis: flat_for_a_tree
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor received = dist::empty_like(data);
  if (rank != 0) dist::send(data, 0);
  for (int other = 1; rank == 0 && other < n; ++other) {
    dist::recv(received, other);
    data.add_(received);
  }
  broadcast_from_0(data);
}

}  // namespace lab
