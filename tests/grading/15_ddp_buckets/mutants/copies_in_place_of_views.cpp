// Misconception: a bucket is filled by copying the gradients into it.
//
// Killed by: Part2Reducer.gradients_lie_in_their_buckets
// Diagnosis: copies_in_place_of_views
#include "mutant.h"
#define make_reducer right_make_reducer
#include DIST_SOLUTION
#undef make_reducer

namespace lab {

// The gradients stay in their old memory; averages would have to be copied back.
Tensor copied_together(const std::vector<std::size_t>& members, std::vector<Tensor>& gradients) {
  std::vector<Tensor> copies = gradients;
  return move_together(members, copies);
}

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
    reducer.buckets.push_back({members, copied_together(members, gradients)});
  }
  return reducer;
}

}  // namespace lab
