// Misconception: a rank makes the groups that it is in, one for each axis.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_made_differently
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names)
    mesh.groups[axis] = dist::new_group(slice(grid, {axis}, dist::get_rank()).ranks);
  return mesh;
}

}  // namespace lab
