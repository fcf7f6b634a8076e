// Misconception: the order in which a rank serves its children does not matter.
//
// Killed by: Part4Tree.few_rounds
// Diagnosis: smallest_subtree_first
#include "mutant.h"
#define tree_scatter right_tree_scatter
#include DIST_SOLUTION
#undef tree_scatter

#include "tree_with.h"

namespace lab {

void tree_scatter(Tensor& mine, const Tensor& all, int root) {
  const Places places{root, dist::get_world_size()};
  const Node node = node_of(places);
  const std::int64_t k = mine.numel();
  Tensor shares = node.place == 0 ? in_order_of_places(all, root * k) : dist::empty({node.subtree * k});
  if (node.place != 0) dist::recv(shares, places.rank_at(node.place - node.bit));
  auto children = children_of(node);
  std::ranges::reverse(children);
  for (const int distance : children) {
    const int below = std::min(distance, node.subtree - distance);
    dist::send(shares.narrow(distance * k, below * k), places.rank_at(node.place + distance));
  }
  mine.copy_(shares.narrow(0, k));
}

}  // namespace lab
