// Misconception: the size of a part is rounded up, and the last rank gets what is left.
//
// Killed by: Part3Rows.every_row
// Diagnosis: size_rounded_up
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

#include "rows_with.h"

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) {
    return std::min(rows, rank * ((rows + n - 1) / n));
  };
  return rows_with(begin, all, columns, root);
}

}  // namespace lab
