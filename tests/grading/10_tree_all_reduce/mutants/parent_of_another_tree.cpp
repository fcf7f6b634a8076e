// Misconception: the parent of r is r / 2 and its children are 2r + 1 and 2r + 2. (The parent r / 2 belongs
// to the children 2r and 2r + 1.)
//
// Killed by: Part1Place.full_trees
// Diagnosis: parent_and_children_disagree
#include "mutant.h"
#define tree_place right_tree_place
#include DIST_SOLUTION
#undef tree_place

namespace lab {

Place tree_place(int rank, int n) {
  Place place = right_tree_place(rank, n);
  if (rank > 0) place.parent = rank / 2 == rank ? 0 : rank / 2;
  return place;
}

}  // namespace lab
