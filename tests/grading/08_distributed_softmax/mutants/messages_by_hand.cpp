// Misconception: an exchange is messages: every rank sends its pair to every other rank. (The result is
// right.)
//
// Killed by: Part4InOne.one_small_all_gather
// Diagnosis: messages_by_hand
#include "mutant.h"
#define softmax_in_one right_softmax_in_one
#include DIST_SOLUTION
#undef softmax_in_one

namespace lab {

void softmax_in_one(Tensor& shard) {
  auto row = shard.to_vector<double>();
  MaxSum mine;
  for (const double x : row) mine = merge(mine, {x, 1});
  const int n = dist::get_world_size(), rank = dist::get_rank();
  const Tensor pair = dist::tensor({mine.max, mine.sum});
  MaxSum total;
  for (int from = 0; from < n; ++from) {
    Tensor theirs = pair.clone();
    for (int to = 0; to < n && from == rank; ++to) {
      if (to != rank) dist::send(theirs, to);
    }
    if (from != rank) dist::recv(theirs, from);
    const auto numbers = theirs.to_vector<double>();
    total = merge(total, {numbers[0], numbers[1]});
  }
  for (double& x : row) x = share(shifted_exp(x, total.max), total.sum);
  store(shard, row);
}

}  // namespace lab
