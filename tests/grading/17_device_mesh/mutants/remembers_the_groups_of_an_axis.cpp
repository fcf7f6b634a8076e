// Misconception: there is one mesh, so the groups of an axis are made once and for all.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_of_another_mesh
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  static std::map<std::string, dist::ProcessGroup> known;
  Mesh mesh{grid, {}};
  for (const std::string& axis : grid.names) {
    if (!known.contains(axis)) known[axis] = make_lines(grid, {axis});
    mesh.groups[axis] = known[axis];
  }
  return mesh;
}

}  // namespace lab
