// Misconception: every function that communicates must join the group first.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: joins_again
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  dist::init_process_group();
  return right_sum_of_all(mine);
}

}  // namespace lab
