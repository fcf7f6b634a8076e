// Misconception: a bucket is launched with its first gradient, and the others are added later.
//
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: launches_before_all_are_there
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  Bucket& bucket = reducer.buckets[reducer.bucket_of[i]];
  if (bucket.pending-- != bucket.members.size()) return;
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  ++reducer.launched;
}

}  // namespace lab
