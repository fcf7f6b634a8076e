// Misconception: the batch that sends may as well be the first one that runs.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  right_accumulate(reducer, count, [&](int batch) { backward(count - 1 - batch); });
}

}  // namespace lab
