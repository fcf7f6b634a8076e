// Misconception: buffers may be made once and used in every step. (Parameters have different sizes.)
//
// Killed by: Part1Zero.all_ranks_are_updated
// Diagnosis: none
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t shard = part_size(parameter.shape());
  static Tensor all = dist::zeros({n * shard}, parameter.dtype());
  static Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  Tensor own = parameter.narrow(rows.first, rows.count);
  Tensor place = mine.narrow(0, own.numel());
  if (rows.count > 0) update(own, place.view(own.shape()));
  place.copy_(flat(own));
  dist::all_gather_into_tensor(all, mine);
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

}  // namespace lab
