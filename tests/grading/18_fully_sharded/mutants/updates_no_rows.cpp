// Misconception: every rank calls its optimizer once per step; a rank without rows updates an empty tensor.
//
// Killed by: Part1Zero.own_rows_only
// Diagnosis: none
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  right_zero_step(parameter, gradient, update);
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), dist::get_world_size());
  if (rows.count > 0) return;
  Tensor none = parameter.narrow(rows.first, 0);
  update(none, none.clone());
}

}  // namespace lab
