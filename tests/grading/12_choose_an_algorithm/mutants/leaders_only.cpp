// Misconception: each node has a leader that communicates for it, as in many MPI programs.
//
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: leaders_only
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  const auto& ranks = groups.within.ranks();
  dist::reduce(data, ranks[0], dist::ReduceOp::sum, {.group = groups.within});
  if (groups.within.rank() == 0)
    dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
  dist::broadcast(data, ranks[0], {.group = groups.within});
}

}  // namespace lab
