// Misconception: new_group numbers the ranks of a group in ascending order anyway.
//
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: sorts_the_ranks
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    mesh.groups[axis] = {};
    for (const int rank : grid.ranks) {
      auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() != rank) continue;
      std::ranges::sort(line);
      const auto group = dist::new_group(line);
      if (group.is_member()) mesh.groups[axis] = group;
    }
  }
  return mesh;
}

}  // namespace lab
