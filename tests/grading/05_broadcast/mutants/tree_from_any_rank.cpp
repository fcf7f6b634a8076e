// Misconception: every rank of a tree receives one message, so a rank need not know its parent.
//
// Killed by: Part2Tree.any_root
// Diagnosis: calls_mixed
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  int distance = 1;
  while (distance < places.n && (place & distance) == 0) distance *= 2;
  if (place != 0) dist::recv(data, {.group = group});
  for (distance /= 2; distance > 0; distance /= 2) {
    const int child = place + distance;
    if (child < places.n) dist::send(data, 0, {.group = group, .group_dst = places.rank_at(child)});
  }
}

}  // namespace lab
