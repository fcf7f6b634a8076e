// Misconception: each backward ends with a sum over the ranks. (Their columns are not even equally many.)
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: communicates_where_nothing_is_needed
#include "mutant.h"
#define row_backward right_row_backward
#include DIST_SOLUTION
#undef row_backward

namespace lab {

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = right_row_backward(layer, x, grad, context);
  dist::all_reduce(of_x, {.group = context.group});
  return of_x;
}

}  // namespace lab
