// Misconception: no logit is below -1e30, so that is what a masked entry is.
//
// Killed by: Part3Row.stable_at_1e4
// Diagnosis: finite_entries_masked
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  auto row = shard.to_vector<double>();
  for (double& x : row)
    if (x < -1e30) x = -infinity;
  store(shard, row);
  right_softmax_of_row(shard);
}

}  // namespace lab
