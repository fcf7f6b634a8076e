// Misconception: the norm of all gradients is summed over all ranks.
//
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: counts_replicas
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<Gradient> everywhere = gradients;
  for (auto& gradient : everywhere) gradient.sharded_over = mesh.grid.names;
  return right_gradient_norm(mesh, everywhere);
}

}  // namespace lab
