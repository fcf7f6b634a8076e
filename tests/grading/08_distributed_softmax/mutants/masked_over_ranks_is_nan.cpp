// Misconception: x - max is never more than 0, so exp of it is always a number.
//
// Killed by: Part2OverRanks.masked_entries_and_awkward_sizes
// Diagnosis: masked_is_nan
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  auto numbers = data.to_vector<double>();
  const auto max = reduced(numbers, ReduceOp::max);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::exp(numbers[i] - max[i]);
  const auto sums = reduced(numbers, ReduceOp::sum);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] /= sums[i];
  store(data, numbers);
}

}  // namespace lab
