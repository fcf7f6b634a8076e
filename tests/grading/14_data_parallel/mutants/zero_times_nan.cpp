// Misconception: a rank without samples multiplies by 0, so its numbers make no difference.
//
// Killed by: Part3Samples.a_rank_without_samples
// Diagnosis: zero_times_nan
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  for (Tensor& gradient : gradients) gradient.mul_(static_cast<double>(samples));
  Tensor count = dist::tensor({static_cast<double>(samples)});
  dist::all_reduce(count);
  for (Tensor& gradient : gradients) dist::all_reduce(gradient);
  divide(gradients, count.item<double>());
}

}  // namespace lab
