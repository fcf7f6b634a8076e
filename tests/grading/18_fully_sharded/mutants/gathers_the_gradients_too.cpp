// Misconception: the ranks exchange what they have: the updated rows and the mean gradients.
//
// Killed by: Part1Zero.one_reduce_scatter_one_all_gather
// Diagnosis: sends_more_than_its_rows
#include "mutant.h"
#define zero_step right_zero_step
#include DIST_SOLUTION
#undef zero_step

namespace lab {

void zero_step(Tensor& parameter, const Tensor& gradient, const Update& update) {
  const int n = dist::get_world_size();
  const Rows rows = rows_of(parameter.size(0), dist::get_rank(), n);
  const std::int64_t shard = part_size(parameter.shape());
  Tensor all = dist::zeros({n * shard}, parameter.dtype());
  Tensor mine = dist::zeros({shard}, parameter.dtype());
  all.narrow(0, gradient.numel()).copy_(flat(gradient));
  dist::reduce_scatter_tensor(mine, all, dist::ReduceOp::avg);
  Tensor own = parameter.narrow(rows.first, rows.count);
  Tensor place = mine.narrow(0, own.numel());
  if (rows.count > 0) update(own, place.view(own.shape()));
  Tensor both = dist::zeros({2 * shard}, parameter.dtype());
  both.narrow(0, shard).copy_(mine);
  both.narrow(shard, own.numel()).copy_(flat(own));
  Tensor everything = dist::zeros({2 * n * shard}, parameter.dtype());
  dist::all_gather_into_tensor(everything, both);
  for (int rank = 0; rank < n; ++rank)
    all.narrow(rank * shard, shard).copy_(everything.narrow((2 * rank + 1) * shard, shard));
  flat(parameter).copy_(all.narrow(0, parameter.numel()));
}

}  // namespace lab
