// Misconception: one broadcast sends all weights.
//
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: first_tensor_only
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) { dist::broadcast(weights[0], 0); }

}  // namespace lab
