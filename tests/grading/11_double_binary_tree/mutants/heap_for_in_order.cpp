// Misconception: any binary tree will do, for example that of lab 10.
//
// Killed by: Part1FirstTree.powers_of_two
// Diagnosis: heap_for_in_order
#include "mutant.h"
#define first_tree right_first_tree
#include DIST_SOLUTION
#undef first_tree

namespace lab {

Place first_tree(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = (rank - 1) / 2;
  for (const int child : {2 * rank + 1, 2 * rank + 2}) {
    if (child < n) place.children.push_back(child);
  }
  return place;
}

}  // namespace lab
