// Misconception: creating a group that is not kept costs nothing.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: more_groups_than_asked
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) {
  right_make_mesh(rows, columns);
  return right_make_mesh(rows, columns);
}

}  // namespace lab
