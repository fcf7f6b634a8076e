// Misconception: a norm is never below 1e-12: dividing by the larger of the two cannot fail.
//
// Killed by: Part1OverRanks.awkward_sizes_and_zeros
// Diagnosis: none
#include "mutant.h"
#define normalize right_normalize
#include DIST_SOLUTION
#undef normalize

namespace lab {

void normalize(Tensor& data) {
  auto numbers = data.to_vector<double>(), squares = numbers;
  for (double& x : squares) x *= x;
  squares = reduced(squares, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] /= std::max(std::sqrt(squares[i]), 1e-12);
  store(data, numbers);
}

}  // namespace lab
