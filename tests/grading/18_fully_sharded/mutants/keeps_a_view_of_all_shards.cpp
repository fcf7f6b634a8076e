// Misconception: a part of a tensor takes the memory of this part.
//
// Killed by: Part2Unit.each_rank_keeps_its_rows
// Diagnosis: keeps_everything
#include "mutant.h"
#define make_unit right_make_unit
#include DIST_SOLUTION
#undef make_unit

namespace lab {

Unit make_unit(const Tensors& parameters) {
  Unit unit = right_make_unit(parameters);
  const std::int64_t shard = unit.shard.numel();
  const Tensor all = dist::zeros({dist::get_world_size() * shard}, dist::DType::f64);
  Tensor own = all.narrow(dist::get_rank() * shard, shard);
  own.copy_(unit.shard);
  unit.shard = own;
  return unit;
}

}  // namespace lab
