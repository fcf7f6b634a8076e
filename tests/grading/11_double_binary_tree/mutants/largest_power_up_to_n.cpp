// Misconception: the only child of rank 0 is the largest power of two that is not above n. (For n = 8 there
// is no rank 8.)
//
// Killed by: Part1FirstTree.powers_of_two
// Diagnosis: none
#include "mutant.h"
#define first_tree right_first_tree
#include DIST_SOLUTION
#undef first_tree

namespace lab {

Place first_tree(int rank, int n) {
  Place place = right_first_tree(rank, n);
  if (rank == 0 && n > 1 && 2 * place.children[0] == n) place.children[0] = n;
  return place;
}

}  // namespace lab
