// Misconception: syncs belongs to the caller, so afterwards it is what it was before, and the last batch
// sends if it was true.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: stays_silent
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  const bool before = reducer.syncs;
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = before && batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
  reducer.syncs = before;
}

}  // namespace lab
