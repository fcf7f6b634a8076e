// Misconception: the mean of a program's ranks is the same in every call, so it can be kept.
//
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: returns_the_first_result
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) {
  static const float mean = right_mean_of_all(mine);
  return mean;
}

}  // namespace lab
