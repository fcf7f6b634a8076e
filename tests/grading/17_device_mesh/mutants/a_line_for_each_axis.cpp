// Misconception: several axes are the lines along each of them.
//
// Killed by: Part2Slice.along_several_axes
// Diagnosis: a_line_for_each_axis
#include "mutant.h"
#define slice right_slice
#include DIST_SOLUTION
#undef slice

namespace lab {

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  std::vector<int> lines;
  for (const int other : part.ranks) {
    for (const auto& axis : axes) {
      const auto line = right_slice(grid, {axis}, rank).ranks;
      if (std::ranges::count(line, other) > 0 && std::ranges::count(lines, other) == 0)
        lines.push_back(other);
    }
  }
  part.ranks = lines;
  return part;
}

}  // namespace lab
