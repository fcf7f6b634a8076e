// Misconception: the parent has the next higher bit, whatever n is.
//
// Killed by: Part1FirstTree.any_number_of_ranks
// Diagnosis: parent_that_does_not_exist
#include "mutant.h"
#define first_tree right_first_tree
#include DIST_SOLUTION
#undef first_tree

namespace lab {

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  const int bit = rank & -rank;
  if (rank > 0) place.parent = (rank ^ bit) | (2 * bit);
  return place;
}

}  // namespace lab
