// Misconception: a new bucket waits for all of its members.
//
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: none
#include "mutant.h"
#define make_reducer right_make_reducer
#include DIST_SOLUTION
#undef make_reducer

namespace lab {

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  Reducer reducer = right_make_reducer(gradients, limits);
  for (Bucket& bucket : reducer.buckets) bucket.pending = bucket.members.size();
  return reducer;
}

}  // namespace lab
