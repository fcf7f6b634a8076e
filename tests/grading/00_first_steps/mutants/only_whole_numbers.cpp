// Misconception: the ranks contribute whole numbers, as in the examples.
//
// Killed by: Part2Sum.every_rank_has_the_sum
// Diagnosis: none
#include "mutant.h"
#define sum_of_all right_sum_of_all
#include DIST_SOLUTION
#undef sum_of_all

namespace lab {

float sum_of_all(float mine) {
  auto sum = dist::full({1}, static_cast<std::int64_t>(mine), dist::DType::i64);
  dist::all_reduce(sum);
  return static_cast<float>(sum.item<std::int64_t>());
}

}  // namespace lab
