// Misconception: the root has all chunks, so only the root can send them.
//
// Killed by: Part4Tree.few_rounds
// Diagnosis: flat_for_a_tree
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  std::vector<Tensor> list;
  for (int rank = 0; rank < dist::get_world_size() && dist::get_rank() == root; ++rank)
    list.push_back(all.narrow(rank * mine.numel(), mine.numel()));
  lab::scatter(mine, list, root);
}

}  // namespace lab
