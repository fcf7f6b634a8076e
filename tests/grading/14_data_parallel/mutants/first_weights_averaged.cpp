// Misconception: the best first weights are the mean of all ranks' first weights.
//
// Killed by: Part1Weights.the_weights_of_rank_0_everywhere
// Diagnosis: means_in_place_of_rank_0
#include "mutant.h"
#define broadcast_weights right_broadcast_weights
#include DIST_SOLUTION
#undef broadcast_weights

namespace lab {

void broadcast_weights(Tensors& weights) {
  for (Tensor& weight : weights) dist::all_reduce(weight, dist::ReduceOp::avg);
}

}  // namespace lab
