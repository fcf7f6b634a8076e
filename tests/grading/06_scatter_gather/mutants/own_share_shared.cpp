// Misconception: the root has its chunk in the list already, so `mine` may be that tensor.
//
// Killed by: Part1Scatter.every_root
// Diagnosis: not_in_place
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  right_scatter(mine, list, root);
  if (dist::get_rank() == root) mine = list[static_cast<std::size_t>(root)];
}

}  // namespace lab
