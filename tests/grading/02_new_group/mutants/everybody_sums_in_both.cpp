// Misconception: every rank creates every group, so every rank uses every group.
//
// Killed by: Part2HalfSum.sums_its_half
// Diagnosis: used_by_a_non_member
#include "mutant.h"
#define half_sum right_half_sum
#include DIST_SOLUTION
#undef half_sum

namespace lab {

double half_sum(const Halves& halves, double mine) {
  auto lower = dist::full({1}, mine, DType::f64), upper = dist::full({1}, mine, DType::f64);
  dist::all_reduce(lower, ReduceOp::sum, {.group = halves.lower});
  dist::all_reduce(upper, ReduceOp::sum, {.group = halves.upper});
  return (halves.lower.is_member() ? lower : upper).item<double>();
}

}  // namespace lab
