// Misconception: the logits are f32, so f32 is enough for x - (max + log(sum)), too.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: digits_lost
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  const auto log_sum = static_cast<float>(max + std::log(sum));
  for (double& x : row) x = std::exp(static_cast<float>(x) - log_sum);
  store(shard, row);
}

}  // namespace lab
