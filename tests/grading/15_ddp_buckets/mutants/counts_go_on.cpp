// Misconception: the buckets are the same in every backward, so the gradients do not have to be counted
// again.
//
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: never_launched
#include "mutant.h"
#define start right_start
#include DIST_SOLUTION
#undef start

namespace lab {

void start(Reducer& reducer) {
  if (reducer.launched > 0) return;
  for (Bucket& bucket : reducer.buckets) bucket.pending = bucket.members.size();
}

}  // namespace lab
