// Misconception: one seed gives one order. This is true within one implementation of std::shuffle.
//
// Killed by: Part1Shuffle.pytorchs_own_order
// Diagnosis: std_shuffle
#include "mutant.h"
#define randperm right_randperm
#include DIST_SOLUTION
#undef randperm

namespace lab {

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  std::shuffle(order.begin(), order.end(), generator);
  return order;
}

}  // namespace lab
