// Misconception: the two sums are put together by SUM.
//
// Killed by: Part3BothSums.positive_sums
// Diagnosis: sum_instead_of_max
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, 0, DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::sum);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

}  // namespace lab
