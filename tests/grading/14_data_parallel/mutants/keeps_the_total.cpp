// Misconception: the number of all samples stays as it is, so it is asked for once.
//
// Killed by: Part3Samples.uneven_parts
// Diagnosis: keeps_something
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  static double total = 0;
  if (total == 0) {
    Tensor count = dist::full({1}, static_cast<double>(samples), dist::DType::f64);
    dist::all_reduce(count);
    total = count.item<double>();
  }
  for (Tensor& gradient : gradients) {
    if (samples == 0) gradient.zero_();
    gradient.mul_(static_cast<double>(samples) / total);
    dist::all_reduce(gradient);
  }
}

}  // namespace lab
