// Misconception: exp and sum may be swapped: first the sum, by all_reduce, then exp of it.
//
// Killed by: Part2OverRanks.probabilities
// Diagnosis: exp_of_a_sum
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  Tensor sum = data.clone();
  dist::all_reduce(sum, ReduceOp::sum);
  data.copy_(dist::exp(data) / dist::exp(sum));
}

}  // namespace lab
