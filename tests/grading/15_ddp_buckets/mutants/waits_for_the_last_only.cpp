// Misconception: buckets are averaged in order, so all of them are done when the last one is.
//
// Killed by: Part4Finish.waits_for_all
// Diagnosis: forgets_a_wait
#include "mutant.h"
#define finish right_finish
#include DIST_SOLUTION
#undef finish

namespace lab {

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  if (reducer.launched > 0) reducer.buckets[reducer.launched - 1].work.wait();
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

}  // namespace lab
