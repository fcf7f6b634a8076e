// Misconception: a bucket is launched as soon as it is full: the sooner, the better.
//
// Killed by: Part3Ready.same_order_on_all_ranks
// Diagnosis: launches_in_ready_order
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  Bucket& bucket = reducer.buckets[reducer.bucket_of[i]];
  if (--bucket.pending > 0) return;
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  ++reducer.launched;
}

}  // namespace lab
