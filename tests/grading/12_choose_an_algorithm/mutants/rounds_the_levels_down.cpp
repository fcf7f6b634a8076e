// Misconception: a tree of n ranks has log2 n levels, rounded down. (It must be rounded up, because the last
// ranks need a level, too.)
//
// Killed by: Part2Predict.tree
// Diagnosis: levels_rounded_down
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::tree) return right_predict(algorithm, machine, bytes);
  int levels = 0;
  while ((2 << levels) <= machine.ranks()) ++levels;
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (4 * levels - 2) * port(c, bytes) + 2 * levels * c.alpha;
}

}  // namespace lab
