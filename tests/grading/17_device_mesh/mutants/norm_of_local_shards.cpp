// Misconception: a rank's gradients are the gradient.
//
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: norm_of_local_shards
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh&, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  return root_of_the_sum(sums);
}

}  // namespace lab
