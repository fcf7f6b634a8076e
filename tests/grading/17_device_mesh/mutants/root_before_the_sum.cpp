// Misconception: the norm of the whole is the sum of the norms of its shards.
//
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: root_before_the_sum
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) {
    double norm = std::sqrt(sum_of_squares(gradient.values));
    for (const auto& axis : gradient.sharded_over) norm = summed({norm}, mesh.groups.at(axis))[0];
    sums.push_back(norm * norm);
  }
  return root_of_the_sum(sums);
}

}  // namespace lab
