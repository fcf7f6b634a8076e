// Misconception: the last bucket is launched when all others are.
//
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: says_nothing_of_missing_buckets
#include "mutant.h"
#define finish right_finish
#include DIST_SOLUTION
#undef finish

namespace lab {

void finish(Reducer& reducer) {
  try {
    right_finish(reducer);
  } catch (const dist::Error&) {
    if (reducer.launched + 1 < reducer.buckets.size()) throw;
  }
}

}  // namespace lab
