// Misconception: counts may be summed as f32, like everything else here. Beyond 2^24 they lose their last
// digits.
//
// Killed by: Part4Accuracy.many_samples
// Diagnosis: sums_integers_in_float
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({static_cast<float>(correct), static_cast<float>(seen)});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<double>();
  if (totals[1] == 0) return right_global_accuracy(correct, seen);
  return totals[0] / totals[1];
}

}  // namespace lab
