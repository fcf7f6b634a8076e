// Misconception: b comes later, so only the earlier sum is rescaled. (This is right only if b has the larger
// max.)
//
// Killed by: Part4Merge.two_pairs
// Diagnosis: one_side_rescaled
#include "mutant.h"
#define merge right_merge
#include DIST_SOLUTION
#undef merge

namespace lab {

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double max = std::max(a.max, b.max);
  if (max == -infinity) return {};
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(std::min(0.0, a.max - b.max))};
}

}  // namespace lab
