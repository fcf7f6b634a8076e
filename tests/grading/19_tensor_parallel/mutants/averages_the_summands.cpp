// Misconception: what several ranks have computed is averaged.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: averages_instead_of_sums
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  const bool adds_bias = context.group.rank() == 0;
  Tensor y = context.multiply(x, layer.weight, adds_bias ? layer.bias : Tensor{});
  dist::all_reduce(y, dist::ReduceOp::avg, {.group = context.group});
  return y;
}

}  // namespace lab
