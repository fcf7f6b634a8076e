// Misconception: a group has as many ranks as the world. (Its ranks are numbered anew, and fewer.)
//
// Killed by: Part1Flat.every_root
// Diagnosis: ignores_the_group
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) != root) return right_flat_broadcast(data, root, group);
  for (int peer = 0; peer < dist::get_world_size(); ++peer) {
    if (peer != root) dist::send(data, 0, {.group = group, .group_dst = peer});
  }
}

}  // namespace lab
