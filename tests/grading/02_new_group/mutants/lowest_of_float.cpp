// Misconception: the lowest float is below every number, doubles included.
//
// Killed by: Part3BothSums.negative_sums
// Diagnosis: lowest_number_guessed
#include "mutant.h"
#define both_sums right_both_sums
#include DIST_SOLUTION
#undef both_sums

namespace lab {

std::array<double, 2> both_sums(const Halves& halves, double mine) {
  auto sums = dist::full({2}, std::numeric_limits<float>::lowest(), DType::f64);
  sums[halves.lower.is_member() ? 0 : 1].fill_(half_sum(halves, mine));
  dist::all_reduce(sums, ReduceOp::max);
  const auto both = sums.to_vector<double>();
  return {both[0], both[1]};
}

}  // namespace lab
