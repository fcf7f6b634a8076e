// Misconception: the second tree is the mirror image of the first, whatever n is.
//
// Killed by: Part2SecondTree.odd
// Diagnosis: mirrored_for_odd_n
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) {
  Place place = first_tree(n - 1 - rank, n);
  if (place.parent >= 0) place.parent = n - 1 - place.parent;
  for (int& child : place.children) child = n - 1 - child;
  return place;
}

}  // namespace lab
