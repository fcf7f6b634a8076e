// Misconception: place 0 is mine, place 1 is theirs; but the places are compared across ranks.
//
// Killed by: Part3BothSums.positive_sums
// Diagnosis: own_sum_first
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, -std::numeric_limits<double>::infinity(), DType::f64);
  sums.data<double>()[0] = half_sum(halves, mine);
  dist::all_reduce(sums, ReduceOp::max);
  return {sums.data<double>()[0], sums.data<double>()[1]};
}

}  // namespace lab
