// Misconception: a wrong place in the second tree matters in Part 2 only. (The timetable is made from it.)
//
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: follows_from_the_trees
#include "mutant.h"
#define second_tree right_second_tree
#include DIST_SOLUTION
#undef second_tree

namespace lab {

Place second_tree(int rank, int n) {
  return n % 2 == 0 ? first_tree(n - 1 - rank, n) : right_second_tree(rank, n);
}

}  // namespace lab
