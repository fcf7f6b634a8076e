// Misconception: size(0) is the number of a tensor's elements.
//
// Killed by: Part5Norm.clips_all_gradients_by_one_factor
// Diagnosis: none
#include "mutant.h"
#define gradient_norm right_gradient_norm
#define clip_gradients right_clip_gradients
#include DIST_SOLUTION
#undef gradient_norm
#undef clip_gradients

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> seen;
  for (const Gradient& gradient : gradients) {
    const auto elements = gradient.values.to_vector<double>();
    const auto count = static_cast<std::ptrdiff_t>(gradient.values.size(0));
    const std::vector<double> first(elements.begin(), elements.begin() + count);
    seen.push_back({dist::tensor<double>(first), gradient.sharded_over});
  }
  return right_gradient_norm(mesh, seen);
}

double clip_gradients(const Mesh& mesh, std::vector<Gradient>& gradients, double max_norm) {
  const double norm = gradient_norm(mesh, gradients);
  for (Gradient& gradient : gradients) gradient.values.mul_(std::min(1.0, max_norm / (norm + 1e-6)));
  return norm;
}

}  // namespace lab
