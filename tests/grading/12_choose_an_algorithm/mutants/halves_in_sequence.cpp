// Misconception: the two halves follow each other, so two trees save nothing.
//
// Killed by: Part2Predict.double_tree
// Diagnosis: halves_in_sequence
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::double_tree) return right_predict(algorithm, machine, bytes);
  const int n = machine.ranks();
  const Costs& c = machine.nodes == 1 ? machine.within : machine.between;
  return 2 * one_tree(c, n, bytes / 2);
}

}  // namespace lab
