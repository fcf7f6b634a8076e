// Misconception: every rank has ceil(rows / n) rows, the last one, too.
//
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: more_rows_than_there_are
#include "mutant.h"
namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#define rows_of right_rows_of
#include DIST_SOLUTION
#undef rows_of

namespace lab {

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t most = (rows + n - 1) / n;
  return {rank * most, most};
}

}  // namespace lab
