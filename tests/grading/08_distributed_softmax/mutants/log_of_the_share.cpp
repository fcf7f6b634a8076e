// Misconception: the loss is -log of the probability, so the probability is computed first.
//
// Killed by: Part5Loss.exact_where_the_probability_is_0
// Diagnosis: log_of_the_share
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double mine = is_mine ? shifted_exp(row[static_cast<std::size_t>(target - first)], max) : 0;
  const auto sums = reduced({exp_sum(row, max), mine}, ReduceOp::sum);
  return -std::log(sums[1] / sums[0]);
}

}  // namespace lab
