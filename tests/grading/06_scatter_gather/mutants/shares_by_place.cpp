// Misconception: relative ranks are counted from the root, and so are the chunks.
//
// Killed by: Part4Tree.any_root
// Diagnosis: shares_by_place
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const bool turn_back = dist::get_rank() == root && root > 0;
  if (!turn_back) return right_tree_scatter(mine, all, root);
  const std::int64_t k = mine.numel(), before = root * k, behind = all.numel() - before;
  const Tensor turned = dist::empty({all.numel()});  // in_order_of_places() makes `all` of it
  Tensor front = turned.narrow(0, before), back = turned.narrow(before, behind);
  front.copy_(all.narrow(behind, before));
  back.copy_(all.narrow(0, behind));
  right_tree_scatter(mine, turned, root);
}

}  // namespace lab
