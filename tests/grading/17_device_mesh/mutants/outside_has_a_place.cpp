// Misconception: every rank of the job is in the grid.
//
// Killed by: Part1Place.two_axes
// Diagnosis: outside_has_a_place
#include "mutant.h"
#define coordinates right_coordinates
#include DIST_SOLUTION
#undef coordinates

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  auto place = static_cast<int>(std::ranges::find(grid.ranks, rank) - grid.ranks.begin());
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

}  // namespace lab
