// Misconception: what is wrong with a batch is not the concern of the caller: the step ends there.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    try {
      backward(batch);
    } catch (...) {
      reducer.syncs = true;
      return;
    }
    finish(reducer);
  }
}

}  // namespace lab
