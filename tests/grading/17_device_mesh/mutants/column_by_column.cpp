// Misconception: the first axis is the first to be divided by, so its coordinate changes fastest.
//
// Killed by: Part1Place.two_axes
// Diagnosis: column_major
#include "mutant.h"
#define coordinates right_coordinates
#include DIST_SOLUTION
#undef coordinates

namespace lab {

std::vector<int> coordinates(const Grid& grid, int rank) {
  const auto found = std::ranges::find(grid.ranks, rank);
  if (found == grid.ranks.end()) return {};
  auto place = static_cast<int>(found - grid.ranks.begin());
  std::vector<int> all;
  for (const int size : grid.sizes) {
    all.push_back(place % size);
    place /= size;
  }
  return all;
}

}  // namespace lab
