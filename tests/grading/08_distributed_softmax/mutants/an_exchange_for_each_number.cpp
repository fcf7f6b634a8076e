// Misconception: max, sum and target's logit are three numbers and need three all_reduces.
//
// Killed by: Part5Loss.two_small_all_reduces
// Diagnosis: an_exchange_for_each_number
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  return std::log(sum) - reduced({logit}, ReduceOp::sum)[0];
}

}  // namespace lab
