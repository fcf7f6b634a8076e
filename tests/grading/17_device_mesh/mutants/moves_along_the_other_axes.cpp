// Misconception: the group of axis tp is the ranks with the same tp.
//
// Killed by: Part2Slice.along_one_axis
// Diagnosis: moves_along_the_other_axes
#include "mutant.h"
#define slice right_slice
#include DIST_SOLUTION
#undef slice

namespace lab {

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  Names others;
  for (const auto& name : grid.names)
    if (!contains(axes, name)) others.push_back(name);
  part.ranks = right_slice(grid, others, rank).ranks;
  return part;
}

}  // namespace lab
