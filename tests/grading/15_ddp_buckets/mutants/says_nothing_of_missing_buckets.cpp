// Misconception: finish() waits for the launched buckets, and it has nothing else to do.
//
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: says_nothing_of_missing_buckets
#include "mutant.h"
#define finish right_finish
#include DIST_SOLUTION
#undef finish

namespace lab {

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
}

}  // namespace lab
