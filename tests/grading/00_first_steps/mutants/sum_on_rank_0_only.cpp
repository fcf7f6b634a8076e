// Misconception: all_reduce gives the sum to rank 0, as reduce does.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: result_on_rank_0_only
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return dist::get_rank() == 0 ? sum.item<float>() : mine;
}

}  // namespace lab
