// Misconception: gradients are clipped where their norm is above max_norm. (The formula has an epsilon, so it
// begins a little below.)
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_only_above
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  if (norm <= max_norm) return norm;
  for (auto& gradient : gradients) gradient.values.mul_(max_norm / (norm + 1e-6));
  return norm;
}

}  // namespace lab
