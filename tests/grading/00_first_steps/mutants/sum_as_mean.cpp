// Misconception: all_reduce averages.
//
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: not_divided
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) { return sum_of_all(mine); }

}  // namespace lab
