// Misconception: a time cannot be negative, so a line that is below zero at 0 bytes is wrong. (It is the
// best line for these measurements.)
//
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: no_time_below_zero
#include "mutant.h"
#define fit_line right_fit_line
#include DIST_SOLUTION
#undef fit_line

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  const Line line = right_fit_line(points);
  return {std::max(line.at_zero, 0.0), std::max(line.per_byte, 0.0)};
}

}  // namespace lab
