// Misconception: one gradient completes at most one bucket, so at most one is launched. (A bucket that was
// full before may have waited for it.)
//
// Killed by: Part3Ready.same_order_on_all_ranks
// Diagnosis: not_all_launch_it
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  if (reducer.launched == reducer.buckets.size() || reducer.buckets[reducer.launched].pending > 0) return;
  Bucket& bucket = reducer.buckets[reducer.launched++];
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
}

}  // namespace lab
