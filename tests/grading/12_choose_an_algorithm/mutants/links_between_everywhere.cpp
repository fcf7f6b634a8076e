// Misconception: the slowest link decides, so every message costs `between`, even on one node.
//
// Killed by: Part2Predict.ring
// Diagnosis: links_between_nodes_everywhere
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  Machine slow = machine;
  if (algorithm != Algorithm::hierarchical) slow.within = slow.between;
  return right_predict(algorithm, slow, bytes);
}

}  // namespace lab
