// Misconception: every rank divides the result of the all_reduce by n. (AVG has done so already.)
//
// Killed by: Part4Finish.waits_for_all
// Diagnosis: divides_twice
#include "mutant.h"
#define finish right_finish
#include DIST_SOLUTION
#undef finish

namespace lab {

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) {
    reducer.buckets[i].work.wait();
    reducer.buckets[i].memory.div_(dist::get_world_size());
  }
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

}  // namespace lab
