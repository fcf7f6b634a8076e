// Misconception: gradients are f32. The last digits of an f64 are lost on the way.
//
// Killed by: Part2Average.means_over_the_ranks
// Diagnosis: f64_through_f32
#include "mutant.h"
#define average_gradients right_average_gradients
#include DIST_SOLUTION
#undef average_gradients

namespace lab {

void average_gradients(Tensors& gradients) {
  for (Tensor& gradient : gradients) {
    Tensor mean = gradient.to(dist::DType::f32);
    dist::all_reduce(mean, dist::ReduceOp::avg);
    gradient.copy_(mean);
  }
}

}  // namespace lab
