// Misconception: every rank keeps its own norm from being 0.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: epsilon_for_each_rank
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  const double safe = norm + 1e-6 * static_cast<double>(mesh.grid.ranks.size());
  for (auto& gradient : gradients) gradient.values.mul_(std::min(1.0, max_norm / safe));
  return norm;
}

}  // namespace lab
