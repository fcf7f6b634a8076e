// Misconception: the group rank before mine is (rank - 1) % n, also for rank 0.
//
// Killed by: Part3Chain.any_root
// Diagnosis: minus_one_is_not_given
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const int n = dist::get_world_size(group), rank = dist::get_rank(group);
  const bool has_before = rank != root, has_after = (rank + 1) % n != root;
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    if (has_before) dist::recv(part, 0, {.group = group, .group_src = (rank - 1) % n});
    if (has_after) dist::send(part, 0, {.group = group, .group_dst = (rank + 1) % n});
  }
}

}  // namespace lab
