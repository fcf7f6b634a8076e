// Misconception: every rank has the list, and its chunk is in it at its rank.
//
// Killed by: Part1Scatter.every_root
// Diagnosis: input_required_everywhere
#include "mutant.h"
#define scatter right_scatter
#include DIST_SOLUTION
#undef scatter

#include <stdexcept>

namespace lab {

void scatter(Tensor& mine, const std::vector<Tensor>& list, int root) {
  const auto n = static_cast<std::size_t>(dist::get_world_size());
  if (list.size() != n) throw std::invalid_argument("scatter: the list must hold one tensor a rank");
  right_scatter(mine, list, root);
}

}  // namespace lab
