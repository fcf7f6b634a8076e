// Misconception: a token is a row of its own, so its gradient travels by itself, as early as possible.
//
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: one_all_reduce_per_piece
#include "mutant.h"
#define column_backward right_column_backward
#include DIST_SOLUTION
#undef column_backward

namespace lab {

Tensor column_backward(Linear& layer, const Tensor& x, const Tensor& grad, const Context& context) {
  Tensor of_x = context.input_gradient(grad, layer.weight);
  std::vector<dist::Work> sums;
  std::vector<Tensor> rows = of_x.chunk(of_x.size(0));
  for (Tensor& token : rows)
    sums.push_back(dist::all_reduce(token, {.group = context.group, .async_op = true}));
  context.add_gradients(layer, x, grad);
  for (dist::Work& sum : sums) sum.wait();
  return of_x;
}

}  // namespace lab
