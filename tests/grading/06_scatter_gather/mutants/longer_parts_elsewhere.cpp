// Misconception: it does not matter which parts are the larger ones.
//
// Killed by: Part3Rows.every_row
// Diagnosis: longer_parts_not_first
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

#include "rows_with.h"

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) { return rank * rows / n; };
  return rows_with(begin, all, columns, root);
}

}  // namespace lab
