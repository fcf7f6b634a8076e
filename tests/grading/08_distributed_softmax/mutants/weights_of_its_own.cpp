// Misconception: a rank divides by its own weight, because it knows only that one.
//
// Killed by: Part1OverRanks.weighted_mean
// Diagnosis: weights_of_its_own
#include "mutant.h"
#define weighted_mean right_weighted_mean
#include DIST_SOLUTION
#undef weighted_mean

namespace lab {

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
  data.div_(weight);
}

}  // namespace lab
