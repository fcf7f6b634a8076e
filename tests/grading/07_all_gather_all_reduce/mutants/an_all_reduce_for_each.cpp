// Misconception: two sums need two all_reduces.
//
// Killed by: Part4Accuracy.one_all_reduce
// Diagnosis: an_all_reduce_for_each
#include "mutant.h"
#define global_accuracy right_global_accuracy
#include DIST_SOLUTION
#undef global_accuracy

namespace lab {

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor right = dist::tensor({correct}), all = dist::tensor({seen});
  all_reduce_sum(right);
  all_reduce_sum(all);
  if (all.item<std::int64_t>() == 0) return right_global_accuracy(correct, seen);
  return right.item<double>() / all.item<double>();
}

}  // namespace lab
