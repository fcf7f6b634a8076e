// Misconception: segments are f32. The last digits of an f64 are lost on the way.
//
// Killed by: Part4Pipelined.any_number_of_ranks
// Diagnosis: f64_through_f32
#include "mutant.h"
#define all_reduce_pipelined right_all_reduce_pipelined
#include DIST_SOLUTION
#undef all_reduce_pipelined

namespace lab {

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  if (data.dtype() != dist::DType::f64) return right_all_reduce_pipelined(data, segment);
  Tensor sum = data.to(dist::DType::f32);
  right_all_reduce_pipelined(sum, segment);
  data.copy_(sum);
}

}  // namespace lab
