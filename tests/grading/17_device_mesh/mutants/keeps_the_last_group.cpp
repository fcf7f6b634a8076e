// Misconception: new_group returns the group of the rank that calls it.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: keeps_the_last_group
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() == rank) mesh.groups[axis] = dist::new_group(line);
    }
  }
  return mesh;
}

}  // namespace lab
