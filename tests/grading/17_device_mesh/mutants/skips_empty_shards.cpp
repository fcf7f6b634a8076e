// Misconception: a rank that has no element of a gradient has nothing to add, so it need not call
// all_reduce.
//
// Killed by: Part5Norm.many_axes_and_empty_shards
// Diagnosis: a_rank_stays_away
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> own;
  for (const auto& gradient : gradients)
    if (gradient.values.numel() > 0) own.push_back(gradient);
  return right_gradient_norm(mesh, own);
}

}  // namespace lab
