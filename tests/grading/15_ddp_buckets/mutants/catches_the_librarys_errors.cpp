// Misconception: an error is a dist::Error. (backward() is the caller's, and may throw anything.)
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: silent_after_an_error
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  try {
    for (int batch = 0; batch < count; ++batch) {
      reducer.syncs = batch + 1 == count;
      start(reducer);
      backward(batch);
      finish(reducer);
    }
  } catch (const dist::Error&) {
    reducer.syncs = true;
    throw;
  }
}

}  // namespace lab
