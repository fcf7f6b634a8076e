// Misconception: the part of this rank is samples / total.
//
// Killed by: Part3Samples.uneven_parts
// Diagnosis: integer_division
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  Tensor count = dist::full({1}, samples, dist::DType::i64);
  dist::all_reduce(count);
  const auto total = count.item<std::int64_t>();
  for (Tensor& gradient : gradients) {
    if (samples == 0) gradient.zero_();
    gradient.mul_(static_cast<double>(samples / total));
    dist::all_reduce(gradient);
  }
}

}  // namespace lab
