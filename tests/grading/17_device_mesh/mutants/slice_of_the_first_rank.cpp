// Misconception: the grid has one slice along an axis: the one that begins at its first rank.
//
// Killed by: Part2Slice.along_one_axis
// Diagnosis: from_the_first_rank
#include "mutant.h"
#define slice right_slice
#include DIST_SOLUTION
#undef slice

namespace lab {

Grid slice(const Grid& grid, const Names& axes, int) { return right_slice(grid, axes, grid.ranks.front()); }

}  // namespace lab
