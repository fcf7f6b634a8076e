// Misconception: a rank without rows has nothing to do in a step.
//
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: ranks_call_different_collectives
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), dist::get_world_size());
  if (rows.count > 0) right_zero_step(parameter, gradient, update);
}

}  // namespace lab
