// Misconception: every rank needs its group, so one is made for every rank.
//
// Killed by: Part3Groups.one_for_each_line
// Diagnosis: a_group_for_each_rank
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  Mesh mesh{grid, {}};
  for (const auto& axis : grid.names) {
    for (const int rank : grid.ranks) {
      const auto group = dist::new_group(slice(grid, {axis}, rank).ranks);
      if (rank == dist::get_rank()) mesh.groups[axis] = group;
    }
    mesh.groups[axis];
  }
  return mesh;
}

}  // namespace lab
