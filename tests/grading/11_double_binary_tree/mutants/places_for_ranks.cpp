// Misconception: a rank in the place of n - 1 - r has the parent and the children of n - 1 - r.
//
// Killed by: Part2SecondTree.even
// Diagnosis: places_for_ranks
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) { return first_tree(n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n, n); }

}  // namespace lab
