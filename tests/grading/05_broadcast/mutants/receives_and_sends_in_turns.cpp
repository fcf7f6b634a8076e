// Misconception: a rank has finished with a segment when it is sent, and only then asks for the next one.
//
// Killed by: Part3Chain.pipelined
// Diagnosis: waits_before_the_next_segment
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    if (place > 0) dist::recv(part, 0, {.group = group, .group_src = places.rank_at(place - 1)});
    if (place < places.n - 1) dist::send(part, 0, {.group = group, .group_dst = places.rank_at(place + 1)});
  }
}

}  // namespace lab
