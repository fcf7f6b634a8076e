// Misconception: a bucket that has received a gradient will be launched; only a bucket without any gradient
// is missing.
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
  if (reducer.launched == reducer.buckets.size()) return;
  const auto& next = reducer.buckets[reducer.launched];
  if (next.pending == next.members.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} is empty", reducer.launched);
}

}  // namespace lab
