// Misconception: the number of ranks is that of the machine on which the program was written.
//
// Killed by: Part3Mean.every_rank_has_the_mean
// Diagnosis: fixed_world_size
#include "mutant.h"
#define mean_of_all right_mean_of_all
#include DIST_SOLUTION
#undef mean_of_all

namespace lab {

float mean_of_all(float mine) { return sum_of_all(mine) / 4; }

}  // namespace lab
