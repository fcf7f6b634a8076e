// Misconception: gradients are averaged by an all_reduce; each rank then takes its shard.
//
// Killed by: Part2Unit.a_reduction_gives_the_mean
// Diagnosis: all_reduces
#include "mutant.h"
#define start_reduction right_start_reduction
#include DIST_SOLUTION
#undef start_reduction

namespace lab {

Reduction start_reduction(const Unit& unit, const Tensors& gradients) {
  Reduction reduction = right_start_reduction(unit, gradients);
  reduction.work.wait();
  dist::all_reduce(reduction.shards, dist::ReduceOp::avg);
  const std::int64_t shard = unit.shard.numel();
  reduction.mean.copy_(reduction.shards.narrow(dist::get_rank() * shard, shard));
  reduction.work = {};
  return reduction;
}

}  // namespace lab
