// Misconception: every shard has a largest element.
//
// Killed by: Part3Row.empty_shards
// Diagnosis: max_of_nothing
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({dist::max(shard)}, ReduceOp::max)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

}  // namespace lab
