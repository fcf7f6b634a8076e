// Misconception: each gradient counts as often as there are samples, and then it is averaged over the ranks.
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
