// Misconception: the products are summed over the ranks, and the bias, which one rank contributes, is summed,
// too.
//
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: reduces_too_much
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, Tensor{});
  dist::all_reduce(y, {.group = context.group});
  Tensor bias = context.group.rank() == 0 ? layer.bias.clone() : dist::zeros_like(layer.bias);
  dist::all_reduce(bias, {.group = context.group});
  for (std::int64_t i = 0; i < y.size(0); ++i) y[i].add_(bias);
  return y;
}

}  // namespace lab
