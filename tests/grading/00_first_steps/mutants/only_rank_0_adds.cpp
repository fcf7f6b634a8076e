// Misconception: one rank does the adding, so only this rank has to call all_reduce.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: not_called_by_all
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  if (dist::get_rank() == 0) dist::all_reduce(sum);
  return sum.item<float>();
}

}  // namespace lab
