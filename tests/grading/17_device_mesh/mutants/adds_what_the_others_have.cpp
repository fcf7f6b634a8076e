// Misconception: the norm is this rank's own part, to which that of the others is added.
//
// Killed by: Part5Norm.the_same_bits_on_all_ranks
// Diagnosis: different_bits
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;
  for (const auto& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (const auto& axis : mesh.grid.names) {
    std::vector<double> own(sums.size(), 0);
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) own[i] = sums[i];
    const auto all = summed(own, mesh.groups.at(axis));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      total += all[i] - own[i];
      sums[i] += all[i] - own[i];
    }
  }
  return std::sqrt(total);
}

}  // namespace lab
