// Misconception: the caller always passes a mesh that fits the number of ranks.
//
// Killed by: Part4Mesh.refuses_what_does_not_fit
// Diagnosis: mesh_not_checked
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  Mesh mesh;
  for (int row = 0; row < rows; ++row) {
    const auto group = dist::new_group(ranks_from(row * columns, columns));
    if (group.is_member()) mesh.row = group;
  }
  for (int column = 0; column < columns; ++column) {
    const auto group = dist::new_group(ranks_from(column, rows, columns));
    if (group.is_member()) mesh.column = group;
  }
  mesh.my_row = columns > 0 ? rank / columns : 0;
  mesh.my_column = columns > 0 ? rank % columns : 0;
  return mesh;
}

}  // namespace lab
