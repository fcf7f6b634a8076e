// Misconception: a stage is full when it has its share of the total cost.
//
// Killed by: Part1Cut.the_costliest_stage_costs_least
// Diagnosis: fills_one_stage_after_another
#include "mutant.h"
#define cut right_cut
#include DIST_SOLUTION
#undef cut

namespace lab {

std::vector<int> cut(const std::vector<double>& costs, int stages) {
  const double average = std::accumulate(costs.begin(), costs.end(), 0.0) / stages;
  std::vector<int> sizes(1);
  double sum = 0;
  for (std::size_t layer = 0; layer < costs.size(); ++layer) {
    const int left = static_cast<int>(costs.size() - layer),
              missing = stages - static_cast<int>(sizes.size());
    if (sizes.back() > 0 && missing > 0 && (sum >= average || left <= missing)) sizes.push_back(0), sum = 0;
    ++sizes.back();
    sum += costs[layer];
  }
  return sizes;
}

}  // namespace lab
