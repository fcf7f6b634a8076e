// Misconception: every chunk is a message of its own on its path from rank to rank.
//
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: one_message_a_share
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
  for (int i = 0; i < node.subtree && node.place != 0; ++i) {
    Tensor share = shares.narrow(i * k, k);
    dist::recv(share, places.rank_at(node.place - node.bit));
  }
  for (const int distance : children_of(node)) {
    for (int i = distance; i < std::min(2 * distance, node.subtree); ++i)
      dist::send(shares.narrow(i * k, k), places.rank_at(node.place + distance));
  }
  mine.copy_(shares.narrow(0, k));
}

}  // namespace lab
