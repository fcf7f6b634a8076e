// Misconception: subtracting a max makes exp safe, and a rank's own max is at hand.
//
// Killed by: Part3Row.uneven_shards
// Diagnosis: local_max
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = largest(row);
  const double sum = reduced({exp_sum(row, max)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

}  // namespace lab
