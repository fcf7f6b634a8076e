// Misconception: two points make a line: the smallest message shows alpha and the largest one beta.
//
// Killed by: Part1Fit.measurements_with_errors
// Diagnosis: first_and_last_point
#include "mutant.h"
#define fit_line right_fit_line
#include DIST_SOLUTION
#undef fit_line

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  const auto &a = points.front(), &b = points.back();
  const double per_byte = (b.seconds - a.seconds) / (b.bytes - a.bytes);
  return {a.seconds - per_byte * a.bytes, per_byte};
}

}  // namespace lab
