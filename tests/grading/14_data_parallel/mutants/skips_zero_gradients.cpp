// Misconception: a gradient that is zero adds nothing, so it need not be sent.
//
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: leaves_the_others_waiting
#include "mutant.h"
#define average_gradients right_average_gradients
#include DIST_SOLUTION
#undef average_gradients

namespace lab {

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    const auto numbers = gradient.to_vector<double>();
    if (std::ranges::all_of(numbers, [](double number) { return number == 0; })) continue;
    dist::all_reduce(gradient, dist::ReduceOp::avg);
  }
}

}  // namespace lab
