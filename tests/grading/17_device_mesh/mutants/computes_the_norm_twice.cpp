// Misconception: calling a collective once more does no harm.
//
// Killed by: Part5Norm.clips_with_one_norm
// Diagnosis: computes_the_norm_twice
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double before = gradient_norm(mesh, gradients);
  const double factor = std::min(1.0, max_norm / (gradient_norm(mesh, gradients) + 1e-6));
  for (auto& gradient : gradients) gradient.values.mul_(factor);
  return before;
}

}  // namespace lab
