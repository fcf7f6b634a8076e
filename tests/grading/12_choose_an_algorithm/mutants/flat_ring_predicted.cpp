// Misconception: nodes make no difference to the number of steps of a ring, so they make none to its time.
//
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: flat_ring_over_nodes
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  return right_predict(algorithm == Algorithm::hierarchical ? Algorithm::ring : algorithm, machine, bytes);
}

}  // namespace lab
