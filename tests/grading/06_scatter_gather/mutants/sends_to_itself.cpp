// Misconception: the root sends every rank its chunk, and it is one of them.
//
// Killed by: Part1Scatter.every_root
// Diagnosis: sends_to_itself
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() == root) {
    for (int peer = 0; peer < dist::get_world_size(); ++peer)
      dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
  dist::recv(mine, root);
}

}  // namespace lab
