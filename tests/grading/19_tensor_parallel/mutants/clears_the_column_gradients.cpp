// Misconception: before a backward the gradients are set to zero, so the layer does it.
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: overwrites_the_gradients
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  layer.weight_gradient.zero_();
  layer.bias_gradient.zero_();
  return right_column_backward(layer, x, grad, context);
}

}  // namespace lab
