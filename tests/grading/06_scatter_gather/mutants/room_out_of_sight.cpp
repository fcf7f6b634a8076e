// Misconception: memory that is not in a tensor costs nothing, so the other ranks' chunks may go into a
// std::vector.
//
// Killed by: Part1Scatter.only_its_own_chunk
// Diagnosis: room_for_everything
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  right_scatter(mine, list, root);
  if (dist::get_rank() == root) return;
  static std::vector<std::vector<float>> others;
  for (int rank = 0; rank < dist::get_world_size(); ++rank)
    others.emplace_back(static_cast<std::size_t>(mine.numel()), 0.0F);
}

}  // namespace lab
