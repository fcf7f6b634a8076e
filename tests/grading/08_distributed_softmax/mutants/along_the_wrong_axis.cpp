// Misconception: a softmax runs over the elements of a tensor. (In part 2 it runs over the ranks.)
//
// Killed by: Part2OverRanks.probabilities
// Diagnosis: along_the_wrong_axis
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  auto numbers = data.to_vector<double>();
  const double max = largest(numbers), sum = exp_sum(numbers, max);
  for (double& x : numbers) x = share(shifted_exp(x, max), sum);
  store(data, numbers);
}

}  // namespace lab
