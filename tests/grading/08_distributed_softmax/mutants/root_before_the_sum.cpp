// Misconception: a norm is a sum of roots of squares, so the root may be taken first.
//
// Killed by: Part1OverRanks.normalize
// Diagnosis: root_before_the_sum
#include "mutant.h"
#define normalize right_normalize
#include DIST_SOLUTION
#undef normalize

namespace lab {

void normalize(Tensor& data) {
  Tensor sizes = dist::sqrt(data * data);
  dist::all_reduce(sizes, ReduceOp::sum);
  data.copy_(data / sizes);
}

}  // namespace lab
