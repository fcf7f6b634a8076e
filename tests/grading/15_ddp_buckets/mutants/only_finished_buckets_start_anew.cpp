// Misconception: a bucket that has started is counted to its end, so only finished ones start anew.
//
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: goes_on_with_a_failed_backward
#include "mutant.h"
#define start right_start
#include DIST_SOLUTION
#undef start

namespace lab {

void start(Reducer& reducer) {
  for (Bucket& bucket : reducer.buckets)
    if (bucket.pending == 0) bucket.pending = bucket.members.size();
  reducer.launched = 0;
}

}  // namespace lab
