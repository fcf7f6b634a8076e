// Misconception: the gradient of the input must be complete before anything else is computed.
//
// Killed by: Part1Layers.the_sum_is_hidden
// Diagnosis: waits_before_the_weight_gradient
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::all_reduce(of_x, {.group = context.group});
  context.add_gradients(layer, x, grad);
  return of_x;
}

}  // namespace lab
