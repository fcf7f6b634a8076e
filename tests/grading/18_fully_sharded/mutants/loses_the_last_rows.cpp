// Misconception: the rows are divided by n, and what the division leaves is too little to matter.
//
// Killed by: Part1Zero.rows_of_a_rank
// Diagnosis: loses_the_last_rows
#include "mutant.h"
namespace lab {
Rows right_rows_of(std::int64_t rows, int rank, int n);
}  // namespace lab
#define rows_of right_rows_of
#include DIST_SOLUTION
#undef rows_of

namespace lab {

Rows rows_of(std::int64_t rows, int rank, int n) { return {rank * (rows / n), rows / n}; }

}  // namespace lab
