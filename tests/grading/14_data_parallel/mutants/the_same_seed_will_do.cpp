// Misconception: all ranks create their weights with the same program, so the weights are the same. (They are
// only with the same seed and the same libraries, and as long as no rank loads a checkpoint.)
//
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: every_rank_keeps_its_own
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) { (void)weights; }

}  // namespace lab
