// Misconception: ranks share their variables, as threads do, so there is nothing to send.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: never_asks_the_others
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  static float sum = 0;
  sum += mine;
  return sum;
}

}  // namespace lab
