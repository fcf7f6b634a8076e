// Misconception: the ranks of a slice are a set; their order means nothing.
//
// Killed by: Part2Slice.ranks_in_any_order_and_axes_of_one
// Diagnosis: sorts_the_ranks
#include "mutant.h"
#define slice right_slice
#include DIST_SOLUTION
#undef slice

namespace lab {

Grid slice(const Grid& grid, const Names& axes, int rank) {
  Grid part = right_slice(grid, axes, rank);
  std::ranges::sort(part.ranks);
  return part;
}

}  // namespace lab
