// Misconception: a new row can be stored where the old one was.
//
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: new_rows_over_old_ones
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor made = dist::empty_like(field[0]);
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      rule(field[row - 1], field[row], field[row + 1], made);
      field[row].copy_(made);
    }
  }
}

}  // namespace lab
