// Misconception: in a scatter only one rank sends, so a receive from any rank can only get its message. (In
// the next call another rank may be the root, and it may be faster.)
//
// Killed by: Part1Scatter.every_root
// Diagnosis: calls_mixed
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::recv(mine);
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(list[static_cast<std::size_t>(peer)], peer);
  }
  mine.copy_(list[static_cast<std::size_t>(root)]);
}

}  // namespace lab
