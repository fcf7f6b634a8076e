// Misconception: the hierarchical algorithm has rings of m ranks within and of g ranks across.
//
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: swaps_nodes_and_gpus
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  Machine turned = machine;
  std::swap(turned.nodes, turned.gpus);
  return right_predict(algorithm, turned, bytes);
}

}  // namespace lab
