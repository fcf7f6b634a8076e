// Misconception: if rank + bit / 2 is not below n, there is no right child. (Its descendants then have no
// parent.)
//
// Killed by: Part1FirstTree.any_number_of_ranks
// Diagnosis: right_child_lost
#include "mutant.h"
#define first_tree right_first_tree
#include DIST_SOLUTION
#undef first_tree

namespace lab {

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  const int half = (rank & -rank) / 2;
  if (rank > 0)
    std::erase_if(place.children, [&](int child) { return child > rank && child != rank + half; });
  return place;
}

}  // namespace lab
