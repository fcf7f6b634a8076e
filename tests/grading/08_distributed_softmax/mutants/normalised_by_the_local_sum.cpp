// Misconception: the max is over the row, but the sum is over the rank's own exps.
//
// Killed by: Part3Row.uneven_shards
// Diagnosis: normalised_by_the_local_sum
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0], sum = exp_sum(row, max);
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

}  // namespace lab
