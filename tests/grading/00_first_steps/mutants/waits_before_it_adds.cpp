// Misconception: all ranks must be there before all_reduce begins, so they wait for each other first.
//
// Killed by: Part2Sum.with_one_all_reduce
// Diagnosis: none
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  dist::barrier();
  return right_sum_of_all(mine);
}

}  // namespace lab
