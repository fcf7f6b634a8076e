// Misconception: everything may be summed as f64, which is exact enough for all numbers.
//
// Killed by: Part2AllReduce.integers_stay_integers
// Diagnosis: sums_integers_in_float
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  Tensor sum = data.to(dist::DType::f64);
  right_all_reduce_sum(sum);
  data.copy_(sum);
}

}  // namespace lab
