// Misconception: an element must be swapped with another one, never with itself.
//
// Killed by: Part1Shuffle.any_size_and_seed
// Diagnosis: no_element_stays
#include "mutant.h"
#define randperm right_randperm
#include DIST_SOLUTION
#undef randperm

namespace lab {

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + 1 + generator() % (order.size() - i - 1)]);
  return order;
}

}  // namespace lab
