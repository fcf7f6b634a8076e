// Misconception: every rank needs a list to gather into.
//
// Killed by: Part2Gather.only_its_own_chunk
// Diagnosis: room_for_everything
#include "mutant.h"
#define gather right_gather
#include DIST_SOLUTION
#undef gather

namespace lab {

void gather(const Tensor& mine, std::vector<Tensor>& list, int root) {
  std::vector<Tensor> mine_too;
  for (int i = 0; i < dist::get_world_size() && dist::get_rank() != root; ++i)
    mine_too.push_back(dist::zeros({mine.numel()}));
  right_gather(mine, list, root);
}

}  // namespace lab
