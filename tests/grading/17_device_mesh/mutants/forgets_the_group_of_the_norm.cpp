// Misconception: the all_reduce of a loop over the axes goes along the axis of its turn.
//
// Killed by: Part5Norm.sharded_and_replicated
// Diagnosis: forgets_the_group
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<double> sums;  // of the squares, of each gradient
  for (const Gradient& gradient : gradients) sums.push_back(sum_of_squares(gradient.values));
  for (const std::string& axis : mesh.grid.names) {
    std::vector<double> parts;  // of the gradients that are sharded over this axis
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) parts.push_back(sums[i]);
    if (parts.empty()) continue;
    Tensor t = dist::tensor<double>(parts);
    dist::all_reduce(t);
    parts = t.to_vector<double>();
    std::size_t next = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (contains(gradients[i].sharded_over, axis)) sums[i] = parts[next++];
  }
  double sum = 0;
  for (const double of_one : sums) sum += of_one;
  return std::sqrt(sum);
}

}  // namespace lab
