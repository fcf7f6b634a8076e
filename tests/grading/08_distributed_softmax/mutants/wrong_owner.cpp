// Misconception: the target is an index into a rank's shard if the shard is long enough.
//
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: wrong_owner
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const bool is_mine = target < shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target)] - max : 0;
  const auto sums = reduced({exp_sum(row, max), logit}, ReduceOp::sum);
  return std::log(sums[0]) - sums[1];
}

}  // namespace lab
