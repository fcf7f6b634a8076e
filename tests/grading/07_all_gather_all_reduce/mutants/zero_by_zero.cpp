// Misconception: a division never fails, and the caller will see the NaN.
//
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: not_refused
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({correct, seen});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<double>();
  return totals[0] / totals[1];
}

}  // namespace lab
