// Misconception: a program begins once, so the weights are sent once.
//
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: keeps_something
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) {
  static bool is_first = true;
  if (is_first) right_broadcast_weights(weights);
  is_first = false;
}

}  // namespace lab
