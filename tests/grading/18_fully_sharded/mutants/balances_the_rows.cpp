// Misconception: shards differ by at most one row, as with chunk().
//
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: balanced_rows
#include "mutant.h"
namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#define rows_of right_rows_of
#include DIST_SOLUTION
#undef rows_of

namespace lab {

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t first = rank * rows / n;
  return {first, (rank + 1) * rows / n - first};
}

}  // namespace lab
