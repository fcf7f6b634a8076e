// Misconception: the counts are integers, and so is their quotient.
//
// Killed by: Part4Accuracy.uneven_shards
// Diagnosis: integer_division
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({correct, seen});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<std::int64_t>();
  if (totals[1] == 0) return right_global_accuracy(correct, seen);
  return static_cast<double>(totals[0] / totals[1]);
}

}  // namespace lab
