// Misconception: the sum over the ranks, which all_reduce returns, is the gradient.
//
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: sums_without_averaging
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0) {
    Bucket& bucket = reducer.buckets[reducer.launched++];
    bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::sum, {.async_op = true});
  }
}

}  // namespace lab
