// Misconception: element 0 is my half's sum, element 1 the other half's. The collective combines equal
// indices across ranks, so an index must mean the same on every rank.
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
