// Misconception: a tree with one level is the flattest one, so all other ranks are children of the root.
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
  if (rank > 0) place.parent = 0;
  for (int child = 1; rank == 0 && child < n; ++child) place.children.push_back(child);
  return place;
}

}  // namespace lab
