// Misconception: each gradient is multiplied by its number of samples, and then the sum is divided by the
// number of ranks.
//
// Killed by: Part3Samples.uneven_parts
// Diagnosis: divides_by_the_ranks
#include "mutant.h"
#define average_over_samples right_average_over_samples
#include DIST_SOLUTION
#undef average_over_samples

namespace lab {

void average_over_samples(Tensors& gradients, std::int64_t samples) {
  make_sums(gradients, samples);
  average_gradients(gradients);
}

}  // namespace lab
