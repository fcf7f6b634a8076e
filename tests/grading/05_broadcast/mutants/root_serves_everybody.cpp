// Misconception: segments alone make a pipeline, even if the root sends each one to every rank.
//
// Killed by: Part3Chain.root_sends_it_once
// Diagnosis: root_serves_everybody
#include "mutant.h"
#define chain_broadcast right_chain_broadcast
#include DIST_SOLUTION
#undef chain_broadcast

namespace lab {

void chain_broadcast(Tensor& data, int root, std::int64_t segment, const ProcessGroup& group) {
  const Tensor flat = data.view({data.numel()});
  for (std::int64_t start = 0; start < flat.numel(); start += segment) {
    Tensor part = flat.narrow(start, std::min(segment, flat.numel() - start));
    flat_broadcast(part, root, group);
  }
}

}  // namespace lab
