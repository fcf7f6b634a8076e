// Misconception: the root sends to all ranks, and it is one of them.
//
// Killed by: Part1Flat.every_root
// Diagnosis: sends_to_itself
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  if (dist::get_rank(group) != root) {
    dist::recv(data, 0, {.group = group, .group_src = root});
    return;
  }
  for (int peer = 0; peer < dist::get_world_size(group); ++peer)
    dist::send(data, 0, {.group = group, .group_dst = peer});
}

}  // namespace lab
