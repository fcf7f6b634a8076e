// Misconception: to be sure, the weights are sent once more.
//
// Killed by: Part1Weights.each_sent_once
// Diagnosis: none
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) {
  right_broadcast_weights(weights);
  right_broadcast_weights(weights);
}

}  // namespace lab
