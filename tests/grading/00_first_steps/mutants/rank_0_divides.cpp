// Misconception: one rank does the arithmetic, and the others get its result.
//
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: result_on_rank_0_only
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) {
  const float sum = sum_of_all(mine);
  return dist::get_rank() == 0 ? sum / static_cast<float>(dist::get_world_size()) : sum;
}

}  // namespace lab
