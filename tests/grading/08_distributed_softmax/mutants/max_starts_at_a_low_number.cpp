// Misconception: a max begins at a number that is low enough.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: none
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  double own = -1e30;
  for (const double x : row) own = std::max(own, x);
  const double max = reduced({own}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

}  // namespace lab
