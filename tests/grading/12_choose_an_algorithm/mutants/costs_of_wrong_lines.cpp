// Misconception: any line through the points will do for the costs.
//
// Killed by: Part1Fit.three_costs_of_two_series
// Diagnosis: follows_from_fit_line
#include "mutant.h"
#define fit_line right_fit_line
#define costs_of right_costs_of
#include DIST_SOLUTION
#undef fit_line
#undef costs_of

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  const Point &first = points.front(), &last = points.back();
  const double slope = (last.seconds - first.seconds) / (last.bytes - first.bytes);
  return {first.seconds - slope * first.bytes, slope};
}

Costs costs_of(const std::vector<Point>& one_way, const std::vector<Point>& burst) {
  const Line way = fit_line(one_way), port = fit_line(burst);
  return {way.at_zero - port.at_zero, port.at_zero, (way.per_byte + port.per_byte) / 2};
}

}  // namespace lab
