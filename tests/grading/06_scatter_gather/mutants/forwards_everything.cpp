// Misconception: a tree for chunks is the tree of the broadcast: every rank receives everything and keeps its
// own chunk.
//
// Killed by: Part4Tree.only_the_subtree
// Diagnosis: forwards_everything
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
  Tensor everything = node.place == 0 ? all : dist::empty({places.n * k});
  if (node.place != 0) dist::recv(everything, places.rank_at(node.place - node.bit));
  for (const int distance : children_of(node)) dist::send(everything, places.rank_at(node.place + distance));
  mine.copy_(everything.narrow(dist::get_rank() * k, k));
}

}  // namespace lab
