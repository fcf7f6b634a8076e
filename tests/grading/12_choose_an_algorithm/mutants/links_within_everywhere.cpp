// Misconception: most messages of a ring stay within a node, so the links within a node decide.
//
// Killed by: Part2Predict.ring
// Diagnosis: links_within_a_node_everywhere
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  Machine as_one = machine;
  if (algorithm != Algorithm::hierarchical) as_one.between = as_one.within;
  return right_predict(algorithm, as_one, bytes);
}

}  // namespace lab
