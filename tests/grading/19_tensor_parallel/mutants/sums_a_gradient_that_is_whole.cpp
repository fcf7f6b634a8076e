// Misconception: forward had an all_reduce, so backward has one, too.
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: sums_what_is_whole
#include "mutant.h"
#define row_backward right_row_backward
#include DIST_SOLUTION
#undef row_backward

namespace lab {

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  Tensor whole = grad.clone();
  dist::all_reduce(whole, {.group = context.group});
  return context.input_gradient(whole, layer.weight);
}

}  // namespace lab
