// Misconception: a rank that is alone has no other rank to communicate with, so it needs no group.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: no_group_for_a_line_of_one
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (std::size_t axis = 0; axis < grid.names.size(); ++axis) {
    const std::string& name = grid.names[axis];
    mesh.groups[name] = grid.sizes[axis] > 1 ? make_lines(grid, {name}) : dist::ProcessGroup();
  }
  return mesh;
}

}  // namespace lab
