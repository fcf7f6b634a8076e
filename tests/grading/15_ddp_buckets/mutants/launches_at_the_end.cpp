// Misconception: averaging begins when all gradients are ready.
//
// Killed by: Part3Ready.backward_goes_on_meanwhile
// Diagnosis: launches_at_the_end
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  for (const Bucket& bucket : reducer.buckets)
    if (bucket.pending > 0) return;
  for (Bucket& bucket : reducer.buckets)
    bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  reducer.launched = reducer.buckets.size();
}

}  // namespace lab
