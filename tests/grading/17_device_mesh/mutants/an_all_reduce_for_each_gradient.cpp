// Misconception: every gradient is reduced by itself.
//
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: an_all_reduce_for_each_gradient
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) {
    double sum = sum_of_squares(gradient.values);
    for (const auto& axis : gradient.sharded_over) sum = summed({sum}, mesh.groups.at(axis))[0];
    sums.push_back(sum);
  }
  return root_of_the_sum(sums);
}

}  // namespace lab
