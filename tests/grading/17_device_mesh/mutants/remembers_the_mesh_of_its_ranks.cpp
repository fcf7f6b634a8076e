// Misconception: the ranks of a grid tell which mesh it is.
//
// Killed by: Part3Groups.of_each_axis
// Diagnosis: groups_of_another_mesh
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(const Grid& grid) {
  static std::map<std::vector<int>, Mesh> made;
  if (!made.contains(grid.ranks)) made[grid.ranks] = right_make_mesh(grid);
  return made[grid.ranks];
}

}  // namespace lab
