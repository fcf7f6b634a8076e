// Misconception: a rank without logits contributes 0 to the MAX, which changes nothing. (If all logits are
// below 0, it does.)
//
// Killed by: Part5Loss.empty_shards_and_masked_entries
// Diagnosis: max_starts_at_zero
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({row.empty() ? 0 : largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] - max : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

}  // namespace lab
