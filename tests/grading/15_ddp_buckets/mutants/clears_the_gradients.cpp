// Misconception: a training step begins with gradients of zero.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (Bucket& bucket : reducer.buckets) bucket.memory.zero_();
  right_accumulate(reducer, count, backward);
}

}  // namespace lab
