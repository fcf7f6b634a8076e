// Misconception: two trees are two paths for the data, and they may be the same tree.
//
// Killed by: Part2SecondTree.inner_in_one_tree_only
// Diagnosis: same_tree_twice
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) { return first_tree(rank, n); }

}  // namespace lab
