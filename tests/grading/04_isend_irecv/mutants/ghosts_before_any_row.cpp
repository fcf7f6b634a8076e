// Misconception: a stencil step needs its ghost rows, so it begins by waiting for the exchange.
//
// Killed by: Part4Relax.hides_the_exchange
// Diagnosis: ghosts_before_any_row
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    std::swap(field, next);
  }
}

}  // namespace lab
