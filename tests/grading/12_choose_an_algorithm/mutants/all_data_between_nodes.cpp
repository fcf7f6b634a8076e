// Misconception: the nodes perform an all_reduce, so all of the data crosses them.
//
// Killed by: Part3Choose.predicts_the_hierarchical_one
// Diagnosis: all_data_between_nodes
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  if (algorithm != Algorithm::hierarchical) return right_predict(algorithm, machine, bytes);
  return 2 * ring_phase(machine.within, machine.gpus, bytes) +
         2 * ring_phase(machine.between, machine.nodes, bytes);
}

}  // namespace lab
