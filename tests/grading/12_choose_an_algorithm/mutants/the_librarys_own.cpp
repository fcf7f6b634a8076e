// Misconception: the library's hierarchical all_reduce may be used, because it exists.
//
// Killed by: Part4Hierarchical.sums_over_nodes
// Diagnosis: the_librarys_own
#include "mutant.h"
#define hierarchical_all_reduce right_hierarchical_all_reduce
#include DIST_SOLUTION
#undef hierarchical_all_reduce

namespace lab {

void hierarchical_all_reduce(dist::Tensor& data, const Groups& groups) {
  (void)groups;
  dist::all_reduce(data, dist::ReduceOp::sum, {.algorithm = "hierarchical"});
}

}  // namespace lab
