// Misconception: a rank without elements has nothing to do.
//
// Killed by: Part3Row.empty_shards
// Diagnosis: empty_shard_leaves
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  if (shard.numel() == 0) return;
  right_softmax_of_row(shard);
}

}  // namespace lab
