// Misconception: the formula is exp(x) / sum of exp(x), and subtracting the max is only a refinement.
//
// Killed by: Part2OverRanks.stable_at_1e4
// Diagnosis: no_max
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  Tensor exps = dist::exp(data), sum = exps.clone();
  dist::all_reduce(sum, ReduceOp::sum);
  data.copy_(exps / sum);
}

}  // namespace lab
