// Misconception: any number may be subtracted from all entries, so the sum of the maxima will do.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: maxima_added
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::sum)[0];
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

}  // namespace lab
