// Misconception: only the rank that has the target has the loss.
//
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: loss_of_the_owner_only
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
  return std::log(reduced({exp_sum(row, max)}, ReduceOp::sum)[0]) - logit;
}

}  // namespace lab
