// Misconception: every rank that is not in the last row has two children.
//
// Killed by: Part1Place.any_number_of_ranks
// Diagnosis: children_that_do_not_exist
#include "mutant.h"
#define tree_place right_tree_place
#include DIST_SOLUTION
#undef tree_place

namespace lab {

Place tree_place(int rank, int n) {
  Place place = right_tree_place(rank, n);
  if (!place.children.empty()) place.children = {2 * rank + 1, 2 * rank + 2};
  return place;
}

}  // namespace lab
