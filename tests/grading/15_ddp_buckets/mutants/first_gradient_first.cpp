// Misconception: the first bucket has the first parameters.
//
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: first_gradient_first
#include "mutant.h"
#define make_reducer right_make_reducer
#include DIST_SOLUTION
#undef make_reducer

namespace lab {

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (const Tensor& gradient : gradients) sizes.push_back({gradient.nbytes(), gradient.dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  return reducer;
}

}  // namespace lab
