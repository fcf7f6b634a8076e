// Misconception: rows and columns may be swapped in the arithmetic, because it works for 2 x 2.
//
// Killed by: Part4Mesh.rows_and_columns
// Diagnosis: square_mesh_assumed
#include "mutant.h"
#define make_mesh right_make_mesh
#include DIST_SOLUTION
#undef make_mesh

namespace lab {

Mesh make_mesh(int rows, int columns) { return right_make_mesh(columns, rows); }

}  // namespace lab
