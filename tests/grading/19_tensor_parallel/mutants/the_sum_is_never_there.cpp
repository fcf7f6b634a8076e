// Misconception: a sum that nobody waits for takes no time, so it is left out.
//
// Killed by: Part1Layers.the_sum_is_hidden
// Diagnosis: forgets_the_backward_all_reduce
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  context.add_gradients(layer, x, grad);
  return context.input_gradient(grad, layer.weight);
}

}  // namespace lab
