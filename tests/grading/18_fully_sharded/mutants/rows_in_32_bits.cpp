// Misconception: the number of rows fits into an int, as that of ranks does.
//
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: rows_in_32_bits
#include "mutant.h"
namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#define rows_of right_rows_of
#include DIST_SOLUTION
#undef rows_of

namespace lab {

Rows rows_of(std::int64_t rows, int rank, int n) {
  const auto all = static_cast<int>(rows);
  const int most = (all + n - 1) / n, first = std::min(rank * most, all);
  return {first, std::min(most, all - first)};
}

}  // namespace lab
