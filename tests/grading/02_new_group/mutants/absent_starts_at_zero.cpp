// Misconception: a rank without the sum contributes zero. This is right for SUM, wrong for MAX.
//
// Killed by: Part3BothSums.negative_sums
// Diagnosis: absent_starts_at_zero
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, 0, DType::f64);
  sums.data<double>()[halves.lower.is_member() ? 0 : 1] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

}  // namespace lab
