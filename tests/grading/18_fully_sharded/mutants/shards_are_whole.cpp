// Misconception: a shard is the whole unit, of which the rank uses its rows.
//
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: keeps_everything
#include "mutant.h"
#define make_unit right_make_unit
#include DIST_SOLUTION
#undef make_unit

namespace lab {

Unit make_unit(const Tensors& parameters) {
  Unit unit;
  std::int64_t count = 0, at = 0;
  for (const Tensor& parameter : parameters) count += parameter.numel();
  unit.shard = dist::zeros({count}, dist::DType::f64);
  unit.gradient = dist::zeros({count}, dist::DType::f64);
  for (const Tensor& parameter : parameters) {
    unit.shapes.push_back(parameter.shape());
    unit.shard.narrow(at, parameter.numel()).copy_(flat(parameter));
    at += parameter.numel();
  }
  return unit;
}

}  // namespace lab
