// Misconception: the library chooses the best algorithm. (It chooses the one that takes the least time here,
// not the one with the fewest bytes.)
//
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: algorithm_left_to_chance
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto part = dist::empty({data.numel() / groups.within.size()}, data.dtype());
  dist::reduce_scatter_tensor(part, data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(part, dist::ReduceOp::sum, {.group = groups.across});
  dist::all_gather_into_tensor(data, part, {.group = groups.within});
}

}  // namespace lab
