// Misconception: one rank has the logit and the others have 0, so MAX finds it, as it found the max.
//
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: absent_logit_by_max
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const auto row = shard.to_vector<double>();
  const bool is_mine = target >= first && target < first + shard.numel();
  const double logit = is_mine ? row[static_cast<std::size_t>(target - first)] : 0;
  const auto maxima = reduced({largest(row), logit}, ReduceOp::max);
  return std::log(reduced({exp_sum(row, maxima[0])}, ReduceOp::sum)[0]) + maxima[0] - maxima[1];
}

}  // namespace lab
