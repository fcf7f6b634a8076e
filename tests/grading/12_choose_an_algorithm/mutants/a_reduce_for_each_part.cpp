// Misconception: each rank gets its part by a reduce of its own, and gives it back by a broadcast.
//
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: more_than_three_collectives
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto parts = data.chunk(groups.within.size());
  const auto& ranks = groups.within.ranks();
  for (std::size_t i = 0; i < parts.size(); ++i)
    dist::reduce(parts[i], ranks[i], dist::ReduceOp::sum, {.group = groups.within});
  auto& mine = parts[static_cast<std::size_t>(groups.within.rank())];
  dist::all_reduce(mine, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  for (std::size_t i = 0; i < parts.size(); ++i)
    dist::broadcast(parts[i], ranks[i], {.group = groups.within});
}

}  // namespace lab
