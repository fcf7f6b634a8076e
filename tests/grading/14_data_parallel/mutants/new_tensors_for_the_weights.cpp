// Misconception: weights is an output, so new tensors may be put into it.
//
// Killed by: Part1Weights.in_place
// Diagnosis: not_in_place
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) {
  for (Tensor& weight : weights) {
    Tensor received = weight.clone();
    dist::broadcast(received, 0);
    weight = received;
  }
}

}  // namespace lab
