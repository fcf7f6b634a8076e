// Misconception: after one turn around the ring every rank has everything.
//
// Killed by: Part2Predict.ring
// Diagnosis: one_phase_of_two
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::ring) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return ring_phase(c, n, bytes);
}

}  // namespace lab
