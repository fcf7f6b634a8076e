// Misconception: two all_reduces are allowed, so they may carry the row, with each rank's shard in its
// position.
//
// Killed by: Part3Row.two_small_all_reduces
// Diagnosis: sends_the_row
#include <utility>

#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  Numbers lengths(static_cast<std::size_t>(dist::get_world_size()));
  lengths[static_cast<std::size_t>(dist::get_rank())] = static_cast<double>(shard.numel());
  lengths = reduced(lengths, ReduceOp::sum);
  std::size_t before = 0, all = 0;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    if (std::cmp_less(rank, dist::get_rank())) before += static_cast<std::size_t>(lengths[rank]);
    all += static_cast<std::size_t>(lengths[rank]);
  }
  const auto row = shard.to_vector<double>();
  Numbers whole(all, -infinity);
  std::copy(row.begin(), row.end(), whole.begin() + static_cast<std::ptrdiff_t>(before));
  whole = reduced(whole, ReduceOp::max);
  const double max = largest(whole), sum = exp_sum(whole, max);
  auto shares = row;
  for (double& x : shares) x = share(shifted_exp(x, max), sum);
  store(shard, shares);
}

}  // namespace lab
