// Misconception: the rank at a place is the place's number.
//
// Killed by: Part1Place.ranks_in_any_order
// Diagnosis: position_as_rank
#include "mutant.h"
#define rank_at right_rank_at
#include DIST_SOLUTION
#undef rank_at

namespace lab {

int rank_at(const Grid& grid, const std::vector<int>& coordinates) {
  int place = 0;
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
    place = place * grid.sizes[axis] + coordinates[axis];
  return place;
}

}  // namespace lab
