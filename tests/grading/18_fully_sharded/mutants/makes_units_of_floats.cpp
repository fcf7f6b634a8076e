// Misconception: a parameter has no more digits than a float.
//
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: none
#include "mutant.h"
#define make_unit right_make_unit
#include DIST_SOLUTION
#undef make_unit

namespace lab {

Unit make_unit(const Tensors& parameters) {
  Tensors rounded;
  for (const Tensor& parameter : parameters)
    rounded.push_back(parameter.to(dist::DType::f32).to(dist::DType::f64));
  return right_make_unit(rounded);
}

}  // namespace lab
