// Misconception: a cost is a rough number, so a float is enough to add them up.
//
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: rounds_the_costs
#include "mutant.h"
#define cut right_cut
#include DIST_SOLUTION
#undef cut

namespace lab {

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  const auto count = static_cast<std::size_t>(stages), layers = costs.size();
  std::vector worst(count + 1, std::vector<float>(layers + 1, std::numeric_limits<float>::infinity()));
  std::vector last(count + 1, std::vector<std::size_t>(layers + 1, 0));
  worst[0][0] = 0;
  for (std::size_t s = 1; s <= count; ++s) {
    for (std::size_t k = s; k <= layers; ++k) {
      float cost = 0;
      for (std::size_t n = 1; n <= k; ++n) {
        cost += static_cast<float>(costs[k - n]);
        const float costliest = std::max(worst[s - 1][k - n], cost);
        if (costliest < worst[s][k]) worst[s][k] = costliest, last[s][k] = n;
      }
    }
  }
  std::vector<int> sizes(count);
  for (std::size_t s = count, k = layers; s > 0; k -= last[s][k], --s)
    sizes[s - 1] = static_cast<int>(last[s][k]);
  return sizes;
}

}  // namespace lab
