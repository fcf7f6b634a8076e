// Misconception: a grid may begin with any rank, but from there on its ranks are consecutive.
//
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: counts_from_the_first_rank
#include "mutant.h"
#define coordinates right_coordinates
#include DIST_SOLUTION
#undef coordinates

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  int place = rank - grid.ranks.front();
  if (place < 0) return {};
  std::vector<int> all(grid.sizes.size());
  for (std::size_t axis = all.size(); axis-- > 0; place /= grid.sizes[axis])
    all[axis] = place % grid.sizes[axis];
  return all;
}

}  // namespace lab
