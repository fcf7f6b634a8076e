// Misconception: the tree of lab 07 has ceil(log2 n) levels, so it will do. (Its root has as many children.)
//
// Killed by: Part1Place.full_trees
// Diagnosis: too_many_children
#include "mutant.h"
#define tree_place right_tree_place
#include DIST_SOLUTION
#undef tree_place

namespace lab {

Place tree_place(int rank, int n) {
  Place place;
  if (rank > 0) place.parent = rank & (rank - 1);
  for (int bit = 1; bit < n && (rank & bit) == 0; bit *= 2) {
    if (rank + bit < n) place.children.push_back(rank + bit);
  }
  return place;
}

}  // namespace lab
