// Misconception: the ranks of a grid are 0, 1, 2, ..., so a rank is its position.
//
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: rank_as_position
#include "mutant.h"
#define coordinates right_coordinates
#include DIST_SOLUTION
#undef coordinates

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  if (std::ranges::count(grid.ranks, rank) == 0) return {};
  int place = rank;
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

}  // namespace lab
