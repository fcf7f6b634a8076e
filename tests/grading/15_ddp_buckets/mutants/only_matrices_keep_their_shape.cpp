// Misconception: only a matrix has a shape to be restored; anything else is a vector. (A number has no axis.)
//
// Killed by: Part2Reducer.shapes_and_elements_stay
// Diagnosis: shape_lost
#include "mutant.h"
#define make_reducer right_make_reducer
#include DIST_SOLUTION
#undef make_reducer

namespace lab {

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  Reducer reducer = right_make_reducer(gradients, limits);
  for (Tensor& gradient : gradients)
    if (gradient.dim() < 2) gradient = gradient.view({-1});
  return reducer;
}

}  // namespace lab
