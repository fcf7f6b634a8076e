// Misconception: a rank that is alone in its column needs no group.
//
// Killed by: Part4Mesh.one_row_one_column
// Diagnosis: none
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  Mesh mesh = right_make_mesh(rows, columns);
  if (rows == 1) mesh.column = {};
  return mesh;
}

}  // namespace lab
