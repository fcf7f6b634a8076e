// Misconception: only the result matters, and all_reduce computes it.
//
// Killed by: Part4Hierarchical.bytes_between_nodes_and_within
// Diagnosis: flat_over_nodes
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  (void)groups;
  dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "ring"});
}

}  // namespace lab
