// Misconception: a rank without samples has nothing to contribute and does not have to wait.
//
// Killed by: Part4Accuracy.a_rank_without_samples
// Diagnosis: leaves_when_it_has_seen_nothing
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  if (seen == 0) return 0;
  return right_global_accuracy(correct, seen);
}

}  // namespace lab
