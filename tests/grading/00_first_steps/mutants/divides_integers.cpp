// Misconception: numbers of ranks are integers, so the sum is divided as one.
//
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: integer_division
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) {
  return static_cast<float>(static_cast<int>(sum_of_all(mine)) / dist::get_world_size());
}

}  // namespace lab
