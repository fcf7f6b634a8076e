// Misconception: the mean of integers is an integer, rounded.
//
// Killed by: Part3Average.integers_are_refused
// Diagnosis: not_refused
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  if (dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  Tensor mean = data.to(dist::DType::f64);
  right_all_reduce_avg(mean);
  data.copy_(mean);
}

}  // namespace lab
