// Misconception: the order in which a job makes its groups does not matter, as long as all ranks use the same
// order.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: columns_first
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  if (rows <= 0 || columns <= 0 || rows * columns != dist::get_world_size())
    dist::fail(dist::Errc::invalid_argument, "{} x {} is no mesh of the world", rows, columns);
  Mesh mesh;
  mesh.my_row = rank / columns;
  mesh.my_column = rank % columns;
  for (int column = 0; column < columns; ++column) {
    const auto group = dist::new_group(ranks_from(column, rows, columns));
    if (column == mesh.my_column) mesh.column = group;
  }
  for (int row = 0; row < rows; ++row) {
    const auto group = dist::new_group(ranks_from(row * columns, columns));
    if (row == mesh.my_row) mesh.row = group;
  }
  return mesh;
}

}  // namespace lab
