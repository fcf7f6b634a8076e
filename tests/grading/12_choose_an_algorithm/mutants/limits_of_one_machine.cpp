// Misconception: the sizes at which the algorithms change places are limits that hold on every machine of
// several nodes.
//
// Killed by: Part3Choose.on_several_nodes
// Diagnosis: not_the_smallest_prediction
#include "mutant.h"
#define choose right_choose
#include DIST_SOLUTION
#undef choose

namespace lab {

Algorithm choose(const Machine& machine, double bytes) {
  if (machine.nodes == 1) return right_choose(machine, bytes);
  if (bytes > 256 * 1024) return machine.gpus > 1 ? Algorithm::hierarchical : Algorithm::ring;
  return machine.ranks() <= 4 ? Algorithm::naive : Algorithm::double_tree;
}

}  // namespace lab
