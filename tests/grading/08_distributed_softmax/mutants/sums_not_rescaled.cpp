// Misconception: the new max is the larger one, and the new sum is the sum of the sums.
//
// Killed by: Part4Merge.two_pairs
// Diagnosis: sums_not_rescaled
#include "mutant.h"
#define merge right_merge
#include DIST_SOLUTION
#undef merge

namespace lab {

MaxSum merge(const MaxSum& a, const MaxSum& b) { return {std::max(a.max, b.max), a.sum + b.sum}; }

}  // namespace lab
