// Misconception: every tensor is averaged by itself, together with its number of samples.
//
// Killed by: Part3Samples.in_place_and_each_sent_once
// Diagnosis: a_count_for_each_tensor
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  for (Tensor& gradient : gradients) {
    Tensor count = dist::tensor({static_cast<double>(samples)});
    dist::all_reduce(count);
    dist::all_reduce(gradient);
    gradient.div_(count.item<double>());
  }
}

}  // namespace lab
