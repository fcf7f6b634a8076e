// Misconception: a gradient may be squared in place: the norm is all that is wanted.
//
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: changes_the_gradients
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  const double norm = right_gradient_norm(mesh, gradients);
  for (const auto& gradient : gradients) {
    dist::Tensor squares = gradient.values;
    squares.mul_(squares);
  }
  return norm;
}

}  // namespace lab
