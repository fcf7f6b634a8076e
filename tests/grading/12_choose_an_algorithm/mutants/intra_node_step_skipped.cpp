// Misconception: the GPUs of a node share its memory, so their sum already exists.
//
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: intra_node_step_skipped
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  dist::all_reduce(data, dist::ReduceOp::sum, {.group = groups.across, .algorithm = "ring"});
}

}  // namespace lab
