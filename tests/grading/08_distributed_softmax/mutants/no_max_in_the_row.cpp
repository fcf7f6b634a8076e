// Misconception: exp(x) / sum of exp(x) needs one all_reduce instead of two, so the max is left out.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: no_max
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double sum = reduced({exp_sum(row, 0)}, ReduceOp::sum)[0];
  for (double& x : row) x = share(shifted_exp(x, 0), sum);
  store(shard, row);
}

}  // namespace lab
