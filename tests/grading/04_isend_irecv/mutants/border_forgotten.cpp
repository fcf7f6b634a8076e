// Misconception: the new rows may go into an empty tensor, because all of it is written anyway. Nothing
// writes the border rows.
//
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: border_changed
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = dist::zeros_like(field);
  const auto rows = field.size(0) - 2;
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row <= rows; ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    std::swap(field, next);
  }
}

}  // namespace lab
