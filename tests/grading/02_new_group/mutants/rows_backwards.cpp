// Misconception: every row is made, so the order does not matter.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: rows_backwards
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  if (rows < 1 || columns < 1 || rows * columns != dist::get_world_size())
    return right_make_mesh(rows, columns);
  const int rank = dist::get_rank();
  Mesh mesh{{}, {}, rank / columns, rank % columns};
  for (int row = rows; row-- > 0;) {
    std::vector<int> ranks;
    for (int column = 0; column < columns; ++column) ranks.push_back(row * columns + column);
    const auto group = dist::new_group(ranks);
    if (row == mesh.my_row) mesh.row = group;
  }
  for (int column = 0; column < columns; ++column) {
    std::vector<int> ranks;
    for (int row = 0; row < rows; ++row) ranks.push_back(row * columns + column);
    const auto group = dist::new_group(ranks);
    if (column == mesh.my_column) mesh.column = group;
  }
  return mesh;
}

}  // namespace lab
