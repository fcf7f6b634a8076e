// Misconception: every rank needs all parameters, so every rank updates all of them.
//
// Killed by: Part1Zero.own_rows_only
// Diagnosis: updates_all_rows
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const std::int64_t shard = part_size(parameter.shape());
  Tensor all = dist::zeros({n * shard}, parameter.dtype());
  Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  dist::all_gather_into_tensor(all, mine);
  update(parameter, all.narrow(0, parameter.numel()).view(parameter.shape()));
}

}  // namespace lab
