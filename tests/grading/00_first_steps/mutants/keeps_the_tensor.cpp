// Misconception: the tensor can be made once and used in every call.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: keeps_something
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  static auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  return sum.item<float>();
}

}  // namespace lab
