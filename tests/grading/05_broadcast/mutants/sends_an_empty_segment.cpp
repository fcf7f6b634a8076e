// Misconception: the number of segments is a quotient of integers plus one for the rest.
//
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: sends_an_empty_segment
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
  for (std::int64_t start = 0; start <= flat.numel(); start += segment)
    parts.push_back(flat.narrow(start, std::min(segment, flat.numel() - start)));

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
