// Misconception: every rank receives all numbers and adds them up in the order of the ranks. (The result is
// right.)
//
// Killed by: Part2AllReduce.up_and_down_a_tree
// Diagnosis: gathers_everything_to_sum
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  const auto n = dist::get_world_size();
  const auto k = data.numel();
  Tensor all = dist::empty({n * k}, data.dtype());
  all_gather(all, data);
  data.zero_();
  for (int rank = 0; rank < n; ++rank) data.add_(all.narrow(rank * k, k));
}

}  // namespace lab
