// Misconception: an accuracy of zero means that there were no samples.
//
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: refuses_none_right
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  const double share = right_global_accuracy(correct, seen);
  if (share == 0) dist::fail(dist::Errc::invalid_argument, "nothing to divide");
  return share;
}

}  // namespace lab
