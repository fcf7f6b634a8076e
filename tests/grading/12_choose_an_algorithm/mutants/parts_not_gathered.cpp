// Misconception: an all_reduce leaves the result on all ranks, and the exchange between nodes was an
// all_reduce.
//
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: parts_not_gathered
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  auto part = dist::empty({data.numel() / groups.within.size()}, data.dtype());
  dist::reduce_scatter_tensor(part, data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(part, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  auto own = data.narrow(groups.within.rank() * part.numel(), part.numel());
  own.copy_(part);
}

}  // namespace lab
