// Misconception: partial sums are f32. The last digits of an f64 are lost on the way up.
//
// Killed by: Part2Reduce.any_number_of_ranks
// Diagnosis: f64_through_f32
#include "mutant.h"
#define reduce_to_root right_reduce_to_root
#include DIST_SOLUTION
#undef reduce_to_root

namespace lab {

void reduce_to_root(Tensor& data) {
  if (data.dtype() != dist::DType::f64) return right_reduce_to_root(data);
  Tensor sum = data.to(dist::DType::f32);
  right_reduce_to_root(sum);
  data.copy_(sum);
}

}  // namespace lab
