// Misconception: a shuffle that swaps every element with any other is the most random one. (Not all orders
// are equally likely.)
//
// Killed by: Part1Shuffle.pytorchs_own_order
// Diagnosis: naive_shuffle
#include "mutant.h"
#define randperm right_randperm
#include DIST_SOLUTION
#undef randperm

namespace lab {

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  for (auto& element : order) std::swap(element, order[generator() % order.size()]);
  return order;
}

}  // namespace lab
