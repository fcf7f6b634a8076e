// Misconception: after backward the ranks must agree on the gradients of the weights, as in data parallelism.
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: sums_the_weight_gradients
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  const Tensor of_x = right_column_backward(layer, x, grad, context);
  dist::all_reduce(layer.weight_gradient, {.group = context.group});
  return of_x;
}

}  // namespace lab
