// Misconception: the exchange has been started, so the ghost rows have arrived.
//
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: reads_before_wait
#include "mutant.h"
#define relax right_relax
#include DIST_SOLUTION
#undef relax

namespace lab {

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  for (int step = 0; step < steps; ++step) {
    auto works = start_exchange(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    wait_all(works);
    std::swap(field, next);
  }
}

}  // namespace lab
