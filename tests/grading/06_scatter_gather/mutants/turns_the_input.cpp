// Misconception: the root may reorder `all` where it is, because it is the root's own tensor.
//
// Killed by: Part4Tree.any_root
// Diagnosis: changes_its_input
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  if (dist::get_rank() != root) return right_tree_scatter(mine, all, root);
  const Tensor before = all.clone();
  Tensor same = all;
  same.copy_(in_order_of_places(before, root * mine.numel()));
  right_tree_scatter(mine, before, root);
}

}  // namespace lab
