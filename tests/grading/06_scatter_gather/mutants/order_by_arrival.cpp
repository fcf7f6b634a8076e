// Misconception: chunks may be received from any rank and stored in the order of arrival.
//
// Killed by: Part2Gather.in_rank_order
// Diagnosis: order_by_arrival
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
  for (int slot = 0; slot < dist::get_world_size(); ++slot) {
    if (slot != root) dist::recv(list[static_cast<std::size_t>(slot)]);
  }
  list[static_cast<std::size_t>(root)].copy_(mine);
}

}  // namespace lab
