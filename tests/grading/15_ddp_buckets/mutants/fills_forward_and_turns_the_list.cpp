// Misconception: reversing the list of buckets is the same as reversing the gradients. (The limits are then
// not reversed: the small first bucket is launched last. PyTorch does this if find_unused_parameters is set,
// because then it learns no order.)
//
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: fills_forward_and_turns_the_list
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
  auto turned = fill_buckets(sizes, limits);
  std::ranges::reverse(turned);
  for (auto members : turned) {
    for (std::size_t& i : members) {
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  return reducer;
}

}  // namespace lab
