// Misconception: in round k each rank that has the data sends it 2^k ranks further, and modulo n that rank
// always exists.
//
// Killed by: Part2Tree.any_number_of_ranks
// Diagnosis: power_of_two_assumed
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  for (int have = 1; have < places.n; have *= 2) {
    if (place < have)
      dist::send(data, 0, {.group = group, .group_dst = places.rank_at(place + have)});
    else if (place < 2 * have)
      dist::recv(data, 0, {.group = group, .group_src = places.rank_at(place - have)});
  }
}

}  // namespace lab
