// Misconception: a gradient is zero when training begins, and so is new memory.
//
// Killed by: Part2Reducer.shapes_and_elements_stay
// Diagnosis: elements_lost
#include "mutant.h"
#define make_reducer right_make_reducer
#include DIST_SOLUTION
#undef make_reducer

namespace lab {

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (auto gradient = gradients.rbegin(); gradient != gradients.rend(); ++gradient)
    sizes.push_back({gradient->nbytes(), gradient->dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      i = gradients.size() - 1 - i;
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  for (Bucket& bucket : reducer.buckets) bucket.memory.zero_();
  return reducer;
}

}  // namespace lab
