// Misconception: AVG divides, so the result is a mean whatever the weights are.
//
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: divided_by_the_ranks
#include "mutant.h"
#define weighted_mean right_weighted_mean
#include DIST_SOLUTION
#undef weighted_mean

namespace lab {

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::avg);
}

}  // namespace lab
