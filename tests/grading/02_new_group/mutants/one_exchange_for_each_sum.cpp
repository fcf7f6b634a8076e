// Misconception: two sums need two exchanges. The result is right, but it takes twice as long.
//
// Killed by: Part3BothSums.one_exchange_for_both
// Diagnosis: one_exchange_for_each_sum
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  const double absent = -std::numeric_limits<double>::infinity(), sum = half_sum(halves, mine);
  const bool is_lower = halves.lower.is_member();
  auto lower = dist::full({1}, is_lower ? sum : absent, DType::f64);
  auto upper = dist::full({1}, is_lower ? absent : sum, DType::f64);
  dist::all_reduce(lower, ReduceOp::max);
  dist::all_reduce(upper, ReduceOp::max);
  return {lower.item<double>(), upper.item<double>()};
}

}  // namespace lab
