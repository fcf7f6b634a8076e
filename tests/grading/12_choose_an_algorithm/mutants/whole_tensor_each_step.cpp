// Misconception: a ring passes the whole tensor around.
//
// Killed by: Part2Predict.ring
// Diagnosis: whole_tensor_each_step
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (n - 1) * (port(c, bytes) + c.alpha);
}

}  // namespace lab
