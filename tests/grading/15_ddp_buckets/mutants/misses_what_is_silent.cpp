// Misconception: every backward launches every bucket, so finish() reports the missing buckets of a backward
// that sends nothing.
//
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: misses_what_is_silent
#include "mutant.h"
#define finish right_finish
#define accumulate right_accumulate
#include DIST_SOLUTION
#undef finish
#undef accumulate

namespace lab {

void finish(Reducer& reducer) {
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

}  // namespace lab
