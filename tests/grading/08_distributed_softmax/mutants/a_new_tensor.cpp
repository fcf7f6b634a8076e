// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
//
// Killed by: Part2OverRanks.probabilities
// Diagnosis: not_in_place
#include "mutant.h"
#define softmax_over_ranks right_softmax_over_ranks
#include DIST_SOLUTION
#undef softmax_over_ranks

namespace lab {

void softmax_over_ranks(Tensor& data) {
  Tensor shares = data.clone();
  right_softmax_over_ranks(shares);
  data = shares;
}

}  // namespace lab
