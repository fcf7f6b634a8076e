// Misconception: adding a sum n times and dividing by n gives the sum back. The intermediate sum may be too
// large.
//
// Killed by: Part3BothSums.negative_sums
// Diagnosis: sum_divided_again
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::zeros({2}, DType::f64);
  sums[halves.lower.is_member() ? 0 : 1].fill_(half_sum(halves, mine));
  dist::all_reduce(sums);
  const auto both = sums.to_vector<double>();
  return {both[0] / halves.lower.size(), both[1] / halves.upper.size()};
}

}  // namespace lab
