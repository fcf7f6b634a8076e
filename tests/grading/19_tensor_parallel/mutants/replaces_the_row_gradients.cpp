// Misconception: a backward computes gradients, so those of an earlier one are old.
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradients
#include "mutant.h"
#define row_backward right_row_backward
#include DIST_SOLUTION
#undef row_backward

namespace lab {

Tensor row_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  layer = with_gradients(layer.weight, layer.bias);
  return right_row_backward(layer, x, grad, context);
}

}  // namespace lab
