// Misconception: a step gives new values, so it gives a new tensor.
//
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: the_parameter_is_another_tensor
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const Tensor before = parameter.clone();
  right_zero_step(parameter, gradient, update);
  Tensor after = parameter.clone();
  parameter.copy_(before);
  parameter = after;
}

}  // namespace lab
