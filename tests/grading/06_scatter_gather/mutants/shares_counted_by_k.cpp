// Misconception: the number of chunks in a message is its length divided by k. (k may be 0.)
//
// Killed by: Part4Tree.awkward_lengths
// Diagnosis: none
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  if (dist::get_rank() == root && all.numel() / mine.numel() != dist::get_world_size()) return;
  right_tree_scatter(mine, all, root);
}

}  // namespace lab
