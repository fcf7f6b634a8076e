// Misconception: every number is an f32 or can be converted to one.
//
// Killed by: Part2Tree.awkward_lengths
// Diagnosis: went_through_f32
#include "mutant.h"
#define tree_broadcast right_tree_broadcast
#include DIST_SOLUTION
#undef tree_broadcast

namespace lab {

void tree_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_tree_broadcast(numbers, root, group);
  data.copy_(numbers.to(data.dtype()));
}

}  // namespace lab
