// Misconception: syncs is set to false before the batches and stays so, and each rank averages its own
// gradients.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: stays_silent
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
  reducer.syncs = false;
}

}  // namespace lab
