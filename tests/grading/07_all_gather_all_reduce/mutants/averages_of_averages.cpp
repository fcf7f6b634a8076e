// Misconception: the overall accuracy is the mean of the ranks' accuracies.
//
// Killed by: Part4Accuracy.uneven_shards
// Diagnosis: averages_of_averages
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  const double own = seen > 0 ? static_cast<double>(correct) / static_cast<double>(seen) : 0;
  Tensor mean = dist::tensor({own});
  all_reduce_avg(mean);
  return mean.item<double>();
}

}  // namespace lab
