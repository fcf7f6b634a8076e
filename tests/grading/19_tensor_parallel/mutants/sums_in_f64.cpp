// Misconception: sums of f32 lose digits, so they are computed and returned as f64.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  const bool adds_bias = context.group.rank() == 0;
  Tensor y = context.multiply(x, layer.weight, adds_bias ? layer.bias : Tensor{}).to(dist::DType::f64);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

}  // namespace lab
