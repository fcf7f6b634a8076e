// Misconception: `list` is an output, so the function may fill it with tensors of its own.
//
// Killed by: Part2Gather.every_root
// Diagnosis: not_in_place
#include "mutant.h"
#define gather right_gather
#include DIST_SOLUTION
#undef gather

namespace lab {

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  if (dist::get_rank() != root) return right_gather(mine, list, root);
  std::vector<Tensor> ours;
  for (int rank = 0; rank < dist::get_world_size(); ++rank) ours.push_back(dist::empty_like(mine));
  right_gather(mine, ours, root);
  list = ours;
}

}  // namespace lab
