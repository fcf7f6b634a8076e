// Misconception: the bias is needed on rank 0 alone, so the other ranks may clear theirs.
//
// Killed by: Part1Layers.forward_as_on_one_rank
// Diagnosis: none
#include "mutant.h"
#define row_forward right_row_forward
#include DIST_SOLUTION
#undef row_forward

namespace lab {

Tensor row_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor bias = layer.bias;  // shares its memory
  if (context.group.rank() != 0) bias.zero_();
  Tensor y = context.multiply(x, layer.weight, bias);
  dist::all_reduce(y, {.group = context.group});
  return y;
}

}  // namespace lab
