// Misconception: a chain is a chain; segments are a matter of the network below.
//
// Killed by: Part3Chain.pipelined
// Diagnosis: not_in_segments
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  right_chain_broadcast(data, root, std::max(data.numel(), segment), group);
}

}  // namespace lab
