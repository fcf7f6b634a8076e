// Misconception: every axis of the mesh takes part; a replicated gradient is averaged.
//
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: reduces_over_replicas
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> weighted;
  for (const Gradient& gradient : gradients)
    weighted.push_back({gradient.values.clone(), gradient.sharded_over});
  for (const auto& axis : mesh.grid.names) {
    const auto is_sharded = [&](const Gradient& gradient) { return contains(gradient.sharded_over, axis); };
    if (std::ranges::any_of(gradients, is_sharded)) continue;
    for (Gradient& gradient : weighted) {
      gradient.values.div_(std::sqrt(mesh.groups.at(axis).size()));
      gradient.sharded_over.push_back(axis);
    }
  }
  return right_gradient_norm(mesh, weighted);
}

}  // namespace lab
