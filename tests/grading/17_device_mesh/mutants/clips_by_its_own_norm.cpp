// Misconception: a rank limits the gradients that it has.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: clips_by_its_own_norm
#include "mutant.h"
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef clip_gradients

namespace lab {

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  const double norm = gradient_norm(mesh, gradients);
  for (auto& gradient : gradients)
    gradient.values.mul_(std::min(1.0, max_norm / (root_of_the_sum(sums) + 1e-6)));
  return norm;
}

}  // namespace lab
