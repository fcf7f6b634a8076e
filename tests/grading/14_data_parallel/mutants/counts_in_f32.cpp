// Misconception: a number of samples is small, so f32 holds it. (Not all whole numbers beyond 2^24.)
//
// Killed by: Part3Samples.uneven_parts
// Diagnosis: f64_through_f32
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  Tensor count = dist::tensor({static_cast<float>(samples)});
  dist::all_reduce(count);
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
  divide(gradients, count.item<double>());
}

}  // namespace lab
