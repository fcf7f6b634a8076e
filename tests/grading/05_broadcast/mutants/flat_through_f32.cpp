// Misconception: messages consist of f32 numbers.
//
// Killed by: Part1Flat.awkward_lengths
// Diagnosis: went_through_f32
#include "mutant.h"
#define flat_broadcast right_flat_broadcast
#include DIST_SOLUTION
#undef flat_broadcast

namespace lab {

void flat_broadcast(Tensor& data, int root, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_flat_broadcast(numbers, root, group);
  data.copy_(numbers.to(data.dtype()));
}

}  // namespace lab
