// Misconception: computing the edge rows first hides all exchanges. It hides all except the first.
//
// Killed by: Part4Relax.hides_the_exchange
// Diagnosis: first_exchange_alone
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  const auto rows = field.size(0) - 2;
  Tensor next = field.clone();
  const auto make_row = [&](std::int64_t row) {
    Tensor made = next[row];
    rule(field[row - 1], field[row], field[row + 1], made);
  };
  if (steps > 0) exchange_ghosts(field);
  for (int step = 0; step < steps; ++step) {
    make_row(1);
    if (rows > 1) make_row(rows);
    std::vector<Work> works;
    if (step + 1 < steps) works = start_exchange(next);
    for (std::int64_t row = 2; row < rows; ++row) make_row(row);
    wait_all(works);
    std::swap(field, next);
  }
}

}  // namespace lab
