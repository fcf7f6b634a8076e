// Misconception: shifting by one turns inner ranks into leaves, whatever n is. (For even n this is as good,
// but it is not NCCL's tree.)
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
