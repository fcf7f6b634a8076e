// Misconception: the direction of the shift does not matter.
//
// Killed by: Part2SecondTree.odd
// Diagnosis: shifted_the_wrong_way
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) {
  if (n % 2 == 0) return right_second_tree(rank, n);
  Place place = first_tree((rank + 1) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + n - 1) % n;
  for (int& child : place.children) child = (child + n - 1) % n;
  return place;
}

}  // namespace lab
