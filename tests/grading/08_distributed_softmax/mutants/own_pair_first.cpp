// Misconception: the order of the pairs makes no difference, so a rank begins with its own.
//
// Killed by: Part4InOne.same_bits_on_all_ranks
// Diagnosis: each_rank_merges_in_its_own_order
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum total;
  for (const double x : row) total = merge(total, {x, 1});
  const int n = dist::get_world_size(), rank = dist::get_rank();
  Tensor all = dist::zeros({2 * n}, dist::DType::f64);
  dist::all_gather_into_tensor(all, dist::tensor({total.max, total.sum}));
  const auto pairs = all.to_vector<double>();
  for (int step = 1; step < n; ++step) {
    const auto i = static_cast<std::size_t>(2 * ((rank + step) % n));
    total = merge(total, {pairs[i], pairs[i + 1]});
  }
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

}  // namespace lab
