// Misconception: the ring is best up to 512 GPUs, and a tree above that, as many pages repeat.
//
// Killed by: Part3Choose.on_one_node
// Diagnosis: size_ignored
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double) {
  return machine.ranks() <= 512 ? Algorithm::ring : Algorithm::double_tree;
}

}  // namespace lab
