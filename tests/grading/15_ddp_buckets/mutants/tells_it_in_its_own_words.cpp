// Misconception: what the caller needs of an error is its text.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: another_error
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
  } catch (const std::exception& error) {
    reducer.syncs = true;
    dist::fail(dist::Errc::internal, "backward has failed: {}", error.what());
  }
}

}  // namespace lab
