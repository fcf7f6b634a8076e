// Misconception: the logits are not needed any more, so the probabilities may overwrite them.
//
// Killed by: Part5Loss.whoever_has_the_target
// Diagnosis: shard_changed
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  const double loss = right_cross_entropy(shard, first, target);
  Tensor shares = shard;
  softmax_of_row(shares);
  return loss;
}

}  // namespace lab
