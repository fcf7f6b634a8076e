// Misconception: there are numel / segment segments.
//
// Killed by: Part3Chain.awkward_segments
// Diagnosis: last_segment_dropped
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  Tensor whole = data.view({data.numel()}).narrow(0, data.numel() / segment * segment);
  right_chain_broadcast(whole, root, segment, group);
}

}  // namespace lab
