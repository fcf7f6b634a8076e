// Misconception: new_group returns an empty handle to a rank that is not a member.
//
// Killed by: Part3Groups.of_some_of_the_ranks
// Diagnosis: keeps_the_last_group
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  const bool is_outside = coordinates(grid, dist::get_rank()).empty();
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto line = slice(grid, {axis}, rank).ranks;
      if (line.front() != rank) continue;
      const auto group = dist::new_group(line);
      if (is_outside || group.is_member()) mesh.groups[axis] = group;
    }
  }
  return mesh;
}

}  // namespace lab
