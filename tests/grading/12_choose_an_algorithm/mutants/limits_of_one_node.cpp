// Misconception: below 64 KiB the message overheads decide and above it the bytes, on every node.
//
// Killed by: Part3Choose.on_one_node
// Diagnosis: not_the_smallest_prediction
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double bytes) {
  if (machine.nodes > 1 || bytes == 0) return right_choose(machine, bytes);
  if (bytes > 64 * 1024) return Algorithm::ring;
  return machine.ranks() <= 8 ? Algorithm::naive : Algorithm::tree;
}

}  // namespace lab
