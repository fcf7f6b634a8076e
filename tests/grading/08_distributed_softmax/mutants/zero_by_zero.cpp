// Misconception: a division never fails.
//
// Killed by: Part1OverRanks.awkward_sizes_and_zeros
// Diagnosis: zero_by_zero
#include "mutant.h"
#define normalize right_normalize
#include DIST_SOLUTION
#undef normalize

namespace lab {

void normalize(Tensor& data) {
  Tensor squares = data * data;
  dist::all_reduce(squares, ReduceOp::sum);
  data.copy_(data / dist::sqrt(squares));
}

}  // namespace lab
