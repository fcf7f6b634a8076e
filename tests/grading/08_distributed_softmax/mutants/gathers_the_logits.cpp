// Misconception: a softmax needs all entries, so every rank gets all of them. (The result is right.)
//
// Killed by: Part3Row.two_small_all_reduces
// Diagnosis: gathers_the_logits
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  const auto row = shard.to_vector<double>();
  const auto longest =
      static_cast<std::int64_t>(reduced({static_cast<double>(row.size())}, ReduceOp::max)[0]);
  Tensor padded = dist::full({longest}, -infinity, dist::DType::f64);
  Tensor mine = padded.narrow(0, shard.numel());
  mine.copy_(shard.to(dist::DType::f64));
  Tensor all = dist::zeros({longest * dist::get_world_size()}, dist::DType::f64);
  dist::all_gather_into_tensor(all, padded);
  const auto whole = all.to_vector<double>();
  const double max = largest(whole), sum = exp_sum(whole, max);
  auto shares = row;
  for (double& x : shares) x = share(shifted_exp(x, max), sum);
  store(shard, shares);
}

}  // namespace lab
