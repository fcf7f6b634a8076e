// Misconception: every parameter is gathered by itself.
//
// Killed by: Part2Unit.one_collective_for_a_unit
// Diagnosis: a_collective_for_each_parameter
#include "mutant.h"
#define start_gather right_start_gather
#include DIST_SOLUTION
#undef start_gather

namespace lab {

Gather start_gather(const Unit& unit) {
  const int n = dist::get_world_size();
  const std::int64_t shard = unit.shard.numel();
  Gather gather{dist::empty({n * shard}, dist::DType::f64)};
  std::int64_t at = 0;
  for (const dist::Shape& shape : unit.shapes) {
    const std::int64_t count = part_size(shape);
    Tensor all = dist::empty({n * count}, dist::DType::f64);
    dist::all_gather_into_tensor(all, unit.shard.narrow(at, count));
    for (int rank = 0; rank < n; ++rank)
      gather.shards.narrow(rank * shard + at, count).copy_(all.narrow(rank * count, count));
    at += count;
  }
  return gather;
}

}  // namespace lab
