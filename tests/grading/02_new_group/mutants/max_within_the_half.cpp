// Misconception: the second exchange is among the same ranks as the first.
//
// Killed by: Part3BothSums.positive_sums
// Diagnosis: max_within_the_half
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, -std::numeric_limits<double>::infinity(), DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max, {.group = my_half(halves)});
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

}  // namespace lab
