// Misconception: exp(own max - new max) needs no exception, because the difference is never more than 0.
//
// Killed by: Part4Merge.minus_infinity_is_neutral
// Diagnosis: inf_minus_inf
#include "mutant.h"
#define merge right_merge
#include DIST_SOLUTION
#undef merge

namespace lab {

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double max = std::max(a.max, b.max);
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(b.max - max)};
}

}  // namespace lab
