// Misconception: a rank without samples has nothing to contribute and does not have to call.
//
// Killed by: Part3Samples.a_rank_without_samples
// Diagnosis: leaves_the_others_waiting
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  if (samples == 0) return;
  right_average_over_samples(gradients, samples);
}

}  // namespace lab
