// Misconception: it is enough that the root does not receive; the tree may remain that of rank 0.
//
// Killed by: Part2Tree.any_root
// Diagnosis: root_0_assumed
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const int rank = dist::get_rank(group), n = dist::get_world_size(group);
  int distance = 1;
  while (distance < n && (rank & distance) == 0) distance *= 2;
  if (rank != root) dist::recv(data, 0, {.group = group, .group_src = std::max(rank - distance, 0)});
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank + distance < n) dist::send(data, 0, {.group = group, .group_dst = rank + distance});
  }
}

}  // namespace lab
