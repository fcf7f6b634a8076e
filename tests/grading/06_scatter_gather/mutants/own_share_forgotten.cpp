// Misconception: the root sends and the others receive, and that is all.
//
// Killed by: Part1Scatter.every_root
// Diagnosis: own_share_forgotten
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::recv(mine, root);
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
}

}  // namespace lab
