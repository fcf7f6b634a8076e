// Misconception: weights sum to 1, so the weighted sum is the mean.
//
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: weights_not_summed
#include "mutant.h"
#define weighted_mean right_weighted_mean
#include DIST_SOLUTION
#undef weighted_mean

namespace lab {

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
}

}  // namespace lab
