// Misconception: all_reduce knows which group was created last.
//
// Killed by: Part2HalfSum.sums_its_half
// Diagnosis: sum_over_the_world
#include "mutant.h"
#define half_sum right_half_sum
#include DIST_SOLUTION
#undef half_sum

namespace lab {

double half_sum(const Halves&, double mine) {
  auto sum = dist::full({1}, mine, DType::f64);
  dist::all_reduce(sum);
  return sum.item<double>();
}

}  // namespace lab
