// Misconception: a rank creates only the groups that it will use.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: groups_made_differently
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  const int rank = dist::get_rank();
  Mesh mesh;
  mesh.my_row = rank / columns;
  mesh.my_column = rank % columns;
  mesh.row = dist::new_group(ranks_from(mesh.my_row * columns, columns));
  mesh.column = dist::new_group(ranks_from(mesh.my_column, rows, columns));
  return mesh;
}

}  // namespace lab
