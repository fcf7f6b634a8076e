// Misconception: the sum of the exps is the exp of the sum.
//
// Killed by: Part3Row.uneven_shards
// Diagnosis: exp_of_a_sum
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  double logits = 0;
  for (const double x : row) logits += x - max;
  const double sum = std::exp(reduced({logits}, ReduceOp::sum)[0]);
  for (double& x : row) x = shifted_exp(x, max) / sum;
  store(shard, row);
}

}  // namespace lab
