// Misconception: a full bucket is averaged before backward continues.
//
// Killed by: Part3Ready.backward_goes_on_meanwhile
// Diagnosis: waits_inside_the_hook
#include "mutant.h"
#define ready right_ready
#include DIST_SOLUTION
#undef ready

namespace lab {

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0)
    dist::all_reduce(reducer.buckets[reducer.launched++].memory, dist::ReduceOp::avg);
}

}  // namespace lab
