// Misconception: each rank has computed its part of the layer, so the layer is computed.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: forgets_the_forward_all_reduce
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  return context.multiply(x, layer.weight, layer.bias);
}

}  // namespace lab
