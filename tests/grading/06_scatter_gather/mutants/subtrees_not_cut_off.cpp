// Misconception: the number of chunks in a subtree is a power of two.
//
// Killed by: Part4Tree.any_number_of_ranks
// Diagnosis: power_of_two_assumed
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
  Tensor shares = node.place == 0 ? in_order_of_places(all, root * k) : dist::empty({node.bit * k});
  if (node.place != 0) dist::recv(shares, places.rank_at(node.place - node.bit));
  for (const int distance : children_of(node))
    dist::send(shares.narrow(distance * k, distance * k), places.rank_at(node.place + distance));
  mine.copy_(shares.narrow(0, k));
}

}  // namespace lab
