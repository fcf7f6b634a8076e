// Misconception: every rank of a tree receives one message, so a rank need not know its parent.
//
// Killed by: Part4Tree.any_root
// Diagnosis: calls_mixed
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter
#include "tree_with.h"

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  if (node.place == 0) return right_tree_scatter(mine, all, root);
  const std::int64_t k = mine.numel();
  Tensor shares = node.subtree > 1 ? dist::empty({node.subtree * k}) : mine;
  dist::recv(shares);
  for (const int distance : children_of(node)) {
    const int below = std::min(distance, node.subtree - distance);
    dist::send(shares.narrow(distance * k, below * k), places.rank_at(node.place + distance));
  }
  if (node.subtree > 1) mine.copy_(shares.narrow(0, k));
}

}  // namespace lab
