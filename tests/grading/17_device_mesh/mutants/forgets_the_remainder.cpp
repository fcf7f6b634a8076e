// Misconception: a coordinate is the position divided by the stride, as in a table of rows and columns.
//
// Killed by: Part1Place.three_and_four_axes
// Diagnosis: forgets_the_remainder
#include "mutant.h"
#define coordinates right_coordinates
#include DIST_SOLUTION
#undef coordinates

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  const auto place = static_cast<int>(found - grid.ranks.begin());
  std::vector<int> all(grid.sizes.size());
  all.back() = place % grid.sizes.back();
  int stride = 1;
  for (std::size_t axis = all.size() - 1; axis-- > 0;) {
    stride *= grid.sizes[axis + 1];
    all[axis] = place / stride;
  }
  return all;
}

}  // namespace lab
