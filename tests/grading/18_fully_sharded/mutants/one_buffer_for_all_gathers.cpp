// Misconception: units of one size are gathered one after the other, so one buffer is enough.
//
// Killed by: Part2Unit.a_gather_gives_the_parameters
// Diagnosis: touched_before_waiting
#include "mutant.h"
#define start_gather right_start_gather
#include DIST_SOLUTION
#undef start_gather

namespace lab {

Gather start_gather(const Unit& unit) {
  static Tensor kept;
  const std::int64_t all = dist::get_world_size() * unit.shard.numel();
  if (!kept.is_defined() || kept.numel() != all) kept = dist::empty({all}, dist::DType::f64);
  Gather gather{kept};
  gather.work = dist::all_gather_into_tensor(gather.shards, unit.shard, {.async_op = true});
  return gather;
}

}  // namespace lab
