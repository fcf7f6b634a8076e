// Misconception: where a bucket is missing the step has failed, and nothing else matters.
//
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: forgets_a_wait
#include "mutant.h"
#define finish right_finish
#include DIST_SOLUTION
#undef finish

namespace lab {

void finish(Reducer& reducer) {
  if (reducer.syncs && reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
  right_finish(reducer);
}

}  // namespace lab
