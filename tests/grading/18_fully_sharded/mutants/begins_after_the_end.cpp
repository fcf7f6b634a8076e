// Misconception: a rank without rows has none of them, wherever it begins.
//
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: begins_after_the_end
#include "mutant.h"
#define rows_of right_rows_of
#include DIST_SOLUTION
#undef rows_of

namespace lab {

Rows rows_of(std::int64_t rows, int rank, int n) {
  const std::int64_t most = (rows + n - 1) / n, first = rank * most;
  return {first, std::clamp<std::int64_t>(rows - first, 0, most)};
}

}  // namespace lab
