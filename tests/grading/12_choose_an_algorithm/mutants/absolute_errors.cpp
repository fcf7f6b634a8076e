// Misconception: least squares has no weights, as in the textbook.
//
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: absolute_errors
#include "mutant.h"
#define fit_line right_fit_line
#include DIST_SOLUTION
#undef fit_line

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  double n = 0, x = 0, xx = 0, t = 0, xt = 0;
  for (const auto& [bytes, seconds] : points) {
    n += 1;
    x += bytes;
    xx += bytes * bytes;
    t += seconds;
    xt += bytes * seconds;
  }
  const double per_byte = (n * xt - x * t) / (n * xx - x * x);
  return {(t - per_byte * x) / n, per_byte};
}

}  // namespace lab
