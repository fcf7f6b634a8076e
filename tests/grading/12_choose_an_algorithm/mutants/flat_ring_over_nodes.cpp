// Misconception: the ring is best for large data on any machine.
//
// Killed by: Part3Choose.on_several_nodes
// Diagnosis: flat_ring_over_nodes
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double bytes) {
  const auto best = right_choose(machine, bytes);
  return best == Algorithm::hierarchical && machine.nodes > 1 ? Algorithm::ring : best;
}

}  // namespace lab
