// Misconception: first all of a node's data is summed within the node, then all of it is summed across the
// nodes.
//
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: flat_over_nodes
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.within});
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
}

}  // namespace lab
