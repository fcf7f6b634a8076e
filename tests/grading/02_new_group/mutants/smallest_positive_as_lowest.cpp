// Misconception: numeric_limits::min() of a double is the lowest double, as that of an int is the lowest int.
//
// Killed by: Part3BothSums.negative_sums
// Diagnosis: smallest_positive_as_lowest
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, std::numeric_limits<double>::min(), DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

}  // namespace lab
