// Misconception: calling a collective once more does no harm, if its effect is undone.
//
// Killed by: Part2Sum.with_one_all_reduce
// Diagnosis: more_than_one_all_reduce
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  auto sum = dist::full({1}, mine);
  dist::all_reduce(sum);
  dist::all_reduce(sum);
  return sum.item<float>() / static_cast<float>(dist::get_world_size());
}

}  // namespace lab
