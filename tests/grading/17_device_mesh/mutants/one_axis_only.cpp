// Misconception: a parameter is sharded over one axis.
//
// Killed by: Part5Norm.many_axes_and_empty_shards
// Diagnosis: one_axis_only
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> first = gradients;
  for (auto& gradient : first)
    if (gradient.sharded_over.size() > 1) gradient.sharded_over.resize(1);
  return right_gradient_norm(mesh, first);
}

}  // namespace lab
