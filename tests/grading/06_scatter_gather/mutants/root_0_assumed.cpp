// Misconception: the root of the tree is rank 0, as in the picture.
//
// Killed by: Part4Tree.any_root
// Diagnosis: root_0_assumed
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int) { right_tree_scatter(mine, all, 0); }

}  // namespace lab
