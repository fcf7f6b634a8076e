// Misconception: the sums of all pairs are added, and the max is the largest one.
//
// Killed by: Part4InOne.any_row
// Diagnosis: sums_not_rescaled
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const double own = largest(row);
  Tensor all = dist::zeros({2 * dist::get_world_size()}, dist::DType::f64);
  dist::all_gather_into_tensor(all, dist::tensor({own, exp_sum(row, own)}));
  const auto pairs = all.to_vector<double>();
  MaxSum total;
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    total = {std::max(total.max, pairs[i]), total.sum + pairs[i + 1]};
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

}  // namespace lab
