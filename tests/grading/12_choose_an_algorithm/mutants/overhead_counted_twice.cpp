// Misconception: the time of an empty message is alpha.
//
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: overhead_counted_twice
#include "mutant.h"
#define costs_of right_costs_of
#include DIST_SOLUTION
#undef costs_of

namespace lab {

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  auto costs = right_costs_of(one_way, burst);
  costs.alpha += costs.overhead;
  return costs;
}

}  // namespace lab
