// Misconception: x - max is never more than 0, so exp of it is always a number.
//
// Killed by: Part3Row.masked_entries
// Diagnosis: masked_is_nan
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double max = reduced({largest(row)}, ReduceOp::max)[0];
  for (double& x : row) x = std::exp(x - max);
  double own = 0;
  for (const double x : row) own += x;
  const double sum = reduced({own}, ReduceOp::sum)[0];
  for (double& x : row) x /= sum;
  store(shard, row);
}

}  // namespace lab
