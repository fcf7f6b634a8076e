// Misconception: two sums need two all_reduces.
//
// Killed by: Part1OverRanks.one_all_reduce
// Diagnosis: an_all_reduce_for_the_weights
#include "mutant.h"
#define weighted_mean right_weighted_mean
#include DIST_SOLUTION
#undef weighted_mean

namespace lab {

void weighted_mean(Tensor& data, double weight) {
  data.mul_(weight);
  dist::all_reduce(data, ReduceOp::sum);
  data.div_(reduced({weight}, ReduceOp::sum)[0]);
}

}  // namespace lab
