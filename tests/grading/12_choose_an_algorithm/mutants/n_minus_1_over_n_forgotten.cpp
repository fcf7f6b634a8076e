// Misconception: a ring moves 2 S, whatever n is. (For many ranks this is nearly right.)
//
// Killed by: Part2Predict.ring
// Diagnosis: n_minus_1_over_n_forgotten
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (n - 1) * (c.overhead + c.alpha) + 2 * c.beta * bytes;
}

}  // namespace lab
