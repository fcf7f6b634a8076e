// Misconception: a slice always has two edge rows, a first and a last one.
//
// Killed by: Part4Relax.few_rows_few_ranks_no_steps
// Diagnosis: makes_rows_twice
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  const auto rows = field.size(0) - 2;
  const auto make_row = [&](std::int64_t row) {
    Tensor made = next[row];
    rule(field[row - 1], field[row], field[row + 1], made);
  };
  for (int step = 0; step < steps; ++step) {
    auto works = start_exchange(field);
    for (std::int64_t row = 2; row < rows; ++row) make_row(row);
    wait_all(works);
    make_row(1);
    make_row(rows);
    std::swap(field, next);
  }
}

}  // namespace lab
