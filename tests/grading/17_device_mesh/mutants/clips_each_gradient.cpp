// Misconception: max_norm limits the gradient of each parameter.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_each_gradient
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients) {
    const double of_one = gradient_norm(mesh, {gradient});
    gradient.values.mul_(std::min(1.0, max_norm / (of_one + 1e-6)));
  }
  return norm;
}

}  // namespace lab
