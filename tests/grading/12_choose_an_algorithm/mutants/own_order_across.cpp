// Misconception: every rank adds the parts of all nodes, beginning with its own.
//
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  const int nodes = groups.across.size(), node = groups.across.rank();
  std::vector<dist::Tensor> all;
  for (int i = 0; i < nodes; ++i) all.push_back(dist::empty_like(data));
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_gather(all, data, {.group = groups.across});
  for (int i = 1; i < nodes; ++i) data.add_(all[static_cast<std::size_t>((node + i) % nodes)]);
}

}  // namespace lab
