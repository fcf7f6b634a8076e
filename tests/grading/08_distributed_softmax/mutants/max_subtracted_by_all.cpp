// Misconception: a rank that does not own the target contributes 0 minus the max.
//
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: max_subtracted_by_all
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] : 0;
  const auto sums = reduced({exp_sum(row, max), logit - max}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

}  // namespace lab
