// Misconception: shifting by one makes leaves of the inner ranks, whatever n is. (As good, and not NCCL's.)
//
// Killed by: Part2SecondTree.even
// Diagnosis: shifted_for_even_n
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) {
  Place place = first_tree((rank + n - 1) % n, n);
  if (place.parent >= 0) place.parent = (place.parent + 1) % n;
  for (int& child : place.children) child = (child + 1) % n;
  return place;
}

}  // namespace lab
