// Misconception: all messages of the naive exchange leave at once, so alpha is counted only once.
//
// Killed by: Part2Predict.naive
// Diagnosis: ways_overlap
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::naive) return right_predict(algorithm, machine, bytes);
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (machine.ranks() - 1) * port(c, bytes) + c.alpha;
}

}  // namespace lab
