// Misconception: segments are cut from numbers, and every number is an f32.
//
// Killed by: Part3Chain.awkward_segments
// Diagnosis: went_through_f32
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  auto numbers = data.to(dist::DType::f32);
  right_chain_broadcast(numbers, root, segment, group);
  data.copy_(numbers.to(data.dtype()));
}

}  // namespace lab
