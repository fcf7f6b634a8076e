// Misconception: the last rank sends as well, because rank 0 comes after rank n - 1.
//
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: ring_for_a_chain
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  right_chain_broadcast(data, root, segment, group);
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  if (places.n > 1 && place == places.n - 1) dist::send(data, 0, {.group = group, .group_dst = root});
  if (places.n > 1 && place == 0)
    dist::recv(data, 0, {.group = group, .group_src = places.rank_at(places.n - 1)});
}

}  // namespace lab
