// Misconception: the order in which a rank serves its children does not matter.
//
// Killed by: Part2Tree.few_rounds
// Diagnosis: smallest_subtree_first
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  int bit = 1;
  while (bit < places.n && (place & bit) == 0) bit *= 2;
  if (place != 0) dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - bit)});
  for (int distance = 1; distance < bit && place + distance < places.n; distance *= 2)
    dist::send(data, 0, {.group = group, .group_dst = places.rank_at(place + distance)});
}

}  // namespace lab
