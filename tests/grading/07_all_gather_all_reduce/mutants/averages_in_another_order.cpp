// Misconception: every rank gathers all numbers and averages them, beginning with its own.
//
// Killed by: Part3Average.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order
#include "mutant.h"
#define all_reduce_avg right_all_reduce_avg
#include DIST_SOLUTION
#undef all_reduce_avg

namespace lab {

void all_reduce_avg(Tensor& data) {
  if (!dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = data.numel();
  Tensor all = dist::empty({n * k}, data.dtype());
  all_gather(all, data);
  for (int i = 1; i < n; ++i) data.add_(all.narrow((rank + i) % n * k, k));
  data.div_(n);
}

}  // namespace lab
