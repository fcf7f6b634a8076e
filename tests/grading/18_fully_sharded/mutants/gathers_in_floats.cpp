// Misconception: a gather may have half the bytes, as in mixed precision.
//
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: none
#include "mutant.h"
#define finish_gather right_finish_gather
#include DIST_SOLUTION
#undef finish_gather

namespace lab {

Tensors finish_gather(const Unit& unit, Gather& gather) {
  Tensors parameters = right_finish_gather(unit, gather);
  for (Tensor& parameter : parameters) parameter = parameter.to(dist::DType::f32).to(dist::DType::f64);
  return parameters;
}

}  // namespace lab
