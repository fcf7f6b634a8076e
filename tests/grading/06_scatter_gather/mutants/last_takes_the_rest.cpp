// Misconception: the rows that are left over go to the last rank.
//
// Killed by: Part3Rows.every_row
// Diagnosis: last_takes_the_rest
#include "mutant.h"
#define scatter_rows right_scatter_rows
#include DIST_SOLUTION
#undef scatter_rows

#include "rows_with.h"

namespace lab {

Tensor scatter_rows(const Tensor& all, std::int64_t columns, int root) {
  const auto begin = [](std::int64_t rows, int rank, int n) { return rank == n ? rows : rank * (rows / n); };
  return rows_with(begin, all, columns, root);
}

}  // namespace lab
