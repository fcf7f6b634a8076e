// Misconception: the stride of an axis is its own size. (In a square the two are equal.)
//
// Killed by: Part1Place.two_axes
// Diagnosis: stride_of_its_own_size
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
  int stride = 1;
  for (std::size_t axis = all.size(); axis-- > 0;) {
    all[axis] = place / stride % grid.sizes[axis];
    if (axis > 0) stride *= grid.sizes[axis - 1];
  }
  return all;
}

}  // namespace lab
