// Misconception: a tree has 2^k ranks, so log2 n may be rounded down.
//
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: power_of_two_assumed
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  int size = 1;
  while (size * 2 <= n) size *= 2;
  Tensor received = dist::empty_like(data);
  const int bit = lowest_bit(rank, size);
  for (int distance = 1; rank < size && distance < bit; distance *= 2) {
    dist::recv(received, rank + distance);
    data.add_(received);
  }
  if (rank != 0 && rank < size) dist::send(data, rank - bit);
  broadcast_from_0(data);
}

}  // namespace lab
