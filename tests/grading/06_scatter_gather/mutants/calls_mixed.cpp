// Misconception: a gather is n - 1 messages from any rank; the source of each says where it belongs.
//
// Killed by: Part2Gather.calls_do_not_mix
// Diagnosis: calls_mixed
#include "mutant.h"
#define gather right_gather
#include DIST_SOLUTION
#undef gather

namespace lab {

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) {
    dist::send(mine, root);
    return;
  }
  Tensor share = dist::empty_like(mine);
  for (int count = 1; count < dist::get_world_size(); ++count) {
    const int source = dist::recv(share).source_rank();
    list[static_cast<std::size_t>(source)].copy_(share);
  }
  list[static_cast<std::size_t>(root)].copy_(mine);
}

}  // namespace lab
