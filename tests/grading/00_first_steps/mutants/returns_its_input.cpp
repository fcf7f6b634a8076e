// Misconception: all_reduce leaves its argument alone and puts the sum somewhere else.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: result_not_read
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return mine;
}

}  // namespace lab
