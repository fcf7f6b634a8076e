// Misconception: every backward ends with averages, and averages may be added up. (They may, and the numbers
// are right, but every batch is sent.)
//
// Killed by: Part5Accumulate.only_the_last_one_sends
// Diagnosis: reduces_on_every_batch
#include "mutant.h"
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef accumulate

namespace lab {

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

}  // namespace lab
