// Misconception: a tensor of two numbers is a tensor of f32.
//
// Killed by: Part4InOne.any_row
// Diagnosis: digits_lost
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum mine;
  for (const double x : row) mine = merge(mine, {x, 1});
  Tensor all = dist::zeros({2 * dist::get_world_size()});
  dist::all_gather_into_tensor(all,
                               dist::tensor({static_cast<float>(mine.max), static_cast<float>(mine.sum)}));
  const auto pairs = all.to_vector<double>();
  MaxSum total;
  for (std::size_t i = 0; i < pairs.size(); i += 2) total = merge(total, {pairs[i], pairs[i + 1]});
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

}  // namespace lab
