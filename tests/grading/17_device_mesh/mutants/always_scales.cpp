// Misconception: clipping gives the gradient the norm max_norm.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: always_scales
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients) gradient.values.mul_(max_norm / (norm + 1e-6));
  return norm;
}

}  // namespace lab
