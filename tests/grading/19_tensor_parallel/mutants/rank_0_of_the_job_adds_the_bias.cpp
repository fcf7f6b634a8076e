// Misconception: rank 0 is in every group.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: no_rank_adds_the_bias
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, dist::get_rank() == 0 ? layer.bias : Tensor{});
  dist::all_reduce(y, {.group = context.group});
  return y;
}

}  // namespace lab
