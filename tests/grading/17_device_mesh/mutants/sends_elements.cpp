// Misconception: all_reduce adds tensors, so it is given the squares of all elements.
//
// Killed by: Part5Norm.one_all_reduce_for_each_axis
// Diagnosis: sends_elements
#include "mutant.h"
#define gradient_norm right_gradient_norm
#include DIST_SOLUTION
#undef gradient_norm

namespace lab {

double gradient_norm(const Mesh& mesh, const std::vector<Gradient>& gradients) {
  std::vector<std::vector<double>> squares;
  for (const auto& gradient : gradients) {
    squares.push_back(gradient.values.to_vector<double>());
    for (double& element : squares.back()) element *= element;
  }
  for (const auto& axis : mesh.grid.names) {
    std::vector<double> all;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (contains(gradients[i].sharded_over, axis))
        all.insert(all.end(), squares[i].begin(), squares[i].end());
    if (all.empty()) continue;
    all = summed(all, mesh.groups.at(axis));
    auto next = all.begin();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!contains(gradients[i].sharded_over, axis)) continue;
      for (double& element : squares[i]) element = *next++;
    }
  }
  std::vector<double> sums;
  for (const auto& of_one : squares) sums.push_back(std::accumulate(of_one.begin(), of_one.end(), 0.0));
  return root_of_the_sum(sums);
}

}  // namespace lab
