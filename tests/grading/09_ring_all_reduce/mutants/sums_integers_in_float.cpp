// Misconception: integers may be summed as f64, which is exact enough for all numbers.
//
// Killed by: Part1ReduceScatter.any_number_of_ranks
// Diagnosis: sums_integers_in_float
#include "mutant.h"
#define reduce_scatter right_reduce_scatter
#include DIST_SOLUTION
#undef reduce_scatter

namespace lab {

void reduce_scatter(Tensor& data) {
  if (data.dtype() != dist::DType::i64) return right_reduce_scatter(data);
  Tensor sum = data.to(dist::DType::f64);
  right_reduce_scatter(sum);
  data.copy_(sum);
}

}  // namespace lab
