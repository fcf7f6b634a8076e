// Misconception: the number of ranks is the sum of ones, so two sums make a mean.
//
// Killed by: Part3Mean.with_one_all_reduce
// Diagnosis: more_than_one_all_reduce
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) { return sum_of_all(mine) / sum_of_all(1); }

}  // namespace lab
