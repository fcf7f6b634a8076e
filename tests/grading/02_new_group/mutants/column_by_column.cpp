// Misconception: the ranks of a mesh are numbered column by column, like a matrix in Fortran.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: ranks_run_down_the_columns
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  auto mesh = right_make_mesh(columns, rows);
  std::swap(mesh.row, mesh.column);
  std::swap(mesh.my_row, mesh.my_column);
  return mesh;
}

}  // namespace lab
