// Misconception: gradients of several ranks are averaged, as in data parallelism.
//
// Killed by: Part1Layers.backward_as_on_one_rank
// Diagnosis: averages_instead_of_sums
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  dist::Work mean = dist::all_reduce(of_x, dist::ReduceOp::avg, {.group = context.group, .async_op = true});
  context.add_gradients(layer, x, grad);
  mean.wait();
  return of_x;
}

}  // namespace lab
