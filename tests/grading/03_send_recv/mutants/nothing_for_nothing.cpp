// Misconception: a tensor without elements need not be sent.
//
// Killed by: Part1Relay.alone_or_empty_handed
// Diagnosis: none
#include "mutant.h"
#define relay right_relay
#include DIST_SOLUTION
#undef relay

namespace lab {

void relay(dist::Tensor& t) {
  if (dist::get_rank() + 1 == dist::get_world_size() && t.numel() == 0) return;
  right_relay(t);
}

}  // namespace lab
