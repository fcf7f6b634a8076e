// Misconception: a server serves all workers at the same time.
//
// Killed by: Part2Predict.parameter_server
// Diagnosis: a_port_for_everybody
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::parameter_server) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * (port(c, bytes) + c.alpha) + 0 * n;
}

}  // namespace lab
