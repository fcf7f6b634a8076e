// Misconception: the sum grows with the max, so the factor is exp(new max - own max).
//
// Killed by: Part4Merge.two_pairs
// Diagnosis: rescaled_upside_down
#include "mutant.h"
#define merge right_merge
#include DIST_SOLUTION
#undef merge

namespace lab {

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  if (a.max == -infinity) return b;
  if (b.max == -infinity) return a;
  const double max = std::max(a.max, b.max);
  return {max, a.sum * std::exp(max - a.max) + b.sum * std::exp(max - b.max)};
}

}  // namespace lab
