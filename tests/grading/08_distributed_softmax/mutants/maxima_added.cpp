// Misconception: pairs are merged by adding them: max to max and sum to sum.
//
// Killed by: Part4Merge.two_pairs
// Diagnosis: maxima_added
#include "mutant.h"
#define merge right_merge
#include DIST_SOLUTION
#undef merge

namespace lab {

MaxSum merge(const MaxSum& a, const MaxSum& b) { return {a.max + b.max, a.sum + b.sum}; }

}  // namespace lab
