// Misconception: a tensor holds f32. The last digits of an f64 are lost on the way.
//
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: f64_through_f32
#include "mutant.h"
#define all_reduce_sum right_all_reduce_sum
#include DIST_SOLUTION
#undef all_reduce_sum

namespace lab {

void all_reduce_sum(Tensor& data) {
  if (data.dtype() != dist::DType::f64) return right_all_reduce_sum(data);
  Tensor sum = data.to(dist::DType::f32);
  right_all_reduce_sum(sum);
  data.copy_(sum);
}

}  // namespace lab
