// Misconception: a rank that is not in the grid has nothing to do with its groups.
//
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: groups_made_differently
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  if (!coordinates(grid, dist::get_rank()).empty()) return right_make_mesh(grid);
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) mesh.groups[axis] = {};
  return mesh;
}

}  // namespace lab
