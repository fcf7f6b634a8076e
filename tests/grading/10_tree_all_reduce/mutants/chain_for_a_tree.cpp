// Misconception: every rank has one parent and one child.
//
// Killed by: Part1Place.a_thousand_ranks
// Diagnosis: chain_for_a_tree
#include "mutant.h"
#define tree_place right_tree_place
#include DIST_SOLUTION
#undef tree_place

namespace lab {

Place tree_place(int rank, int n) {
  Place place;
  place.parent = rank - 1;
  if (rank + 1 < n) place.children = {rank + 1};
  return place;
}

}  // namespace lab
