// Misconception: a rank that is alone knows the counts of all ranks, and divides them.
//
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: not_refused
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  if (dist::get_world_size() == 1) return static_cast<double>(correct) / static_cast<double>(seen);
  return right_global_accuracy(correct, seen);
}

}  // namespace lab
