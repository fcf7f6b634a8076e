// Misconception: a buffer for all chunks, of which the subtree fills a part, is the simplest.
//
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: room_for_everything
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  Tensor room;
  if (dist::get_rank() != root) room = dist::zeros({dist::get_world_size() * mine.numel()});
  right_tree_scatter(mine, all, root);
}

}  // namespace lab
