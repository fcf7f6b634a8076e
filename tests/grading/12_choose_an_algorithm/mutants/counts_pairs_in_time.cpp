// Misconception: n ranks form n(n-1)/2 pairs, so each rank exchanges with (n-1)/2 others.
//
// Killed by: Part2Predict.naive
// Diagnosis: counts_pairs
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::naive) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return (n - 1) / 2. * (port(c, bytes) + c.alpha);
}

}  // namespace lab
