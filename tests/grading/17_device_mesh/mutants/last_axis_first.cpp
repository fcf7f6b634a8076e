// Misconception: the last axis has the neighbouring ranks, so its groups are made first.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: axes_in_another_order
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (std::size_t axis = grid.names.size(); axis-- > 0;)
    mesh.groups[grid.names[axis]] = make_lines(grid, {grid.names[axis]});
  return mesh;
}

}  // namespace lab
