// Misconception: both children of a tree send at the same time, so their messages arrive at the same time.
//
// Killed by: Part2Predict.tree
// Diagnosis: children_at_once
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::tree) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * ceil_log2(n) * (port(c, bytes) + c.alpha);
}

}  // namespace lab
