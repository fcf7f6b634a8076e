// Misconception: alpha is a time, so it cannot be negative.
//
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: none
#include "mutant.h"
#define costs_of right_costs_of
#include DIST_SOLUTION
#undef costs_of

namespace lab {

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  Costs costs = right_costs_of(one_way, burst);
  costs.alpha = std::max(costs.alpha, 0.0);
  return costs;
}

}  // namespace lab
