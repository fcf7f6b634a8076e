// Misconception: a loss must be finite, or training breaks down; so the logit of a masked target is the
// lowest number.
//
// Killed by: Part5Loss.empty_shards_and_masked_entries
// Diagnosis: none
#include "mutant.h"
#define cross_entropy right_cross_entropy
#include DIST_SOLUTION
#undef cross_entropy

namespace lab {

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  return std::min(right_cross_entropy(shard, first, target), 1e9);
}

}  // namespace lab
