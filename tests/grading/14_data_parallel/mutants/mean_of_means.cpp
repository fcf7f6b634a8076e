// Misconception: every rank has a mean, and the overall mean is the mean of these.
//
// Killed by: Part3Samples.uneven_parts
// Diagnosis: mean_of_the_ranks_means
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  if (samples == 0)
    for (Tensor& gradient : gradients) gradient.zero_();
  average_gradients(gradients);
}

}  // namespace lab
