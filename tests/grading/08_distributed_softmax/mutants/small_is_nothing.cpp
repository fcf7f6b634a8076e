// Misconception: a probability below 1e-30 is 0.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: none
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  right_softmax_of_row(shard);
  auto row = shard.to_vector<double>();
  for (double& x : row)
    if (x < 1e-30) x = 0;
  store(shard, row);
}

}  // namespace lab
