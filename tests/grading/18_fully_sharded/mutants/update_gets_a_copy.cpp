// Misconception: the optimizer is given values, so a copy of the rows does.
//
// Killed by: Part1Zero.own_rows_only
// Diagnosis: update_gets_a_copy
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  right_zero_step(parameter, gradient, [&](Tensor& rows, const Tensor& of_rows) {
    Tensor copy = rows.clone();
    update(copy, of_rows);
    rows.copy_(copy);
  });
}

}  // namespace lab
