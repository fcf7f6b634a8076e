// Misconception: m segments are the data cut into m equal parts.
//
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: equal_segments
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Places places{root, dist::get_world_size(group)};
  const int place = places.place_of(dist::get_rank(group));
  const int from = places.rank_at(place + places.n - 1), to = places.rank_at(place + 1);
  const Tensor flat = data.view({data.numel()});
  std::vector<Tensor> parts;
  if (flat.numel() > 0) parts = flat.chunk((flat.numel() + segment - 1) / segment);

  std::vector<Work> arriving(parts.size()), leaving;
  for (std::size_t i = 0; i < parts.size() && place > 0; ++i)
    arriving[i] = dist::irecv(parts[i], 0, {.group = group, .group_src = from});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    arriving[i].wait();
    if (place < places.n - 1) leaving.push_back(dist::isend(parts[i], 0, {.group = group, .group_dst = to}));
  }
  for (auto& work : leaving) work.wait();
}

}  // namespace lab
