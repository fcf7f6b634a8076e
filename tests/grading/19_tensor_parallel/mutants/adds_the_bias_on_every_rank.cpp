// Misconception: every rank has the bias, so every rank adds it.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: adds_the_bias_n_times
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor y = context.multiply(x, layer.weight, layer.bias);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

}  // namespace lab
