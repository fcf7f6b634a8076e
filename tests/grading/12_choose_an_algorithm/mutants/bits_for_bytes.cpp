// Misconception: networks are measured in bits, so beta is in seconds per bit.
//
// Killed by: Part1Fit.points_on_a_line
// Diagnosis: bits_for_bytes
#include "mutant.h"
#define fit_line right_fit_line
#include DIST_SOLUTION
#undef fit_line

namespace lab {

Line fit_line(const std::vector<Point>& points) {
  auto line = right_fit_line(points);
  line.per_byte /= 8;
  return line;
}

}  // namespace lab
