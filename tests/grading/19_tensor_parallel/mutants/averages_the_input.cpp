// Misconception: x must be the same on all ranks, so it is averaged before it is used.
//
// Killed by: Part1Layers.one_all_reduce_each_way
// Diagnosis: reduces_too_much
#include "mutant.h"
#define column_forward right_column_forward
#include DIST_SOLUTION
#undef column_forward

namespace lab {

Tensor column_forward(const Linear& layer, const Tensor& x, const Context& context) {
  Tensor equal = x.clone();
  dist::all_reduce(equal, dist::ReduceOp::avg, {.group = context.group});
  return context.multiply(equal, layer.weight, layer.bias);
}

}  // namespace lab
