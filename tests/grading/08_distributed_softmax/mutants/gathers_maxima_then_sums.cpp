// Misconception: two small all_gathers, of the maxima and then of the sums, are as good as one.
//
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: two_exchanges
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  const auto gathered = [](double mine) {
    Tensor all = dist::zeros({dist::get_world_size()}, dist::DType::f64);
    dist::all_gather_into_tensor(all, dist::tensor({mine}));
    return all.to_vector<double>();
  };
  const double max = largest(gathered(largest(row)));
  double sum = 0;
  for (const double own : gathered(exp_sum(row, max))) sum += own;
  for (double& x : row) x = share(shifted_exp(x, max), sum);
  store(shard, row);
}

}  // namespace lab
