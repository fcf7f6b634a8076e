// Misconception: partial sums are f32. The last digits of an f64 are lost on the way up.
//
// Killed by: Part3AllReduce.any_dtype
// Diagnosis: f64_through_f32
#include "mutant.h"
#define double_tree_all_reduce right_double_tree_all_reduce
#include DIST_SOLUTION
#undef double_tree_all_reduce

namespace lab {

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  if (data.dtype() != dist::DType::f64) return right_double_tree_all_reduce(data, segment);
  Tensor sum = data.to(dist::DType::f32);
  right_double_tree_all_reduce(sum, segment);
  data.copy_(sum);
}

}  // namespace lab
