// Lab 08: write these functions. README.md tells the story,
// distributed_softmax.h is the contract.
//
//   ./distlab run 8      see what your code does
//   ./distlab grade 8    is it right, and if not, why?
//   ./distlab hint 8     a nudge
#include "distributed_softmax.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dist/core/todo.h"

namespace lab {

using dist::ReduceOp, dist::Tensor;

// Useful in all parts: `auto x = data.to_vector<double>();`, and back:
// `data.copy_(dist::tensor(std::span<const double>(x)));`.

void weighted_mean(Tensor& data, double weight) {
  // TODO: what does this rank add to the sum above the line, and what to the
  // one below?
  // TODO: both sums in one all_reduce.
  DIST_TODO("lab 08, part 1: the weighted mean over the ranks");
}

void normalize(Tensor& data) {
  // TODO: which number of each rank may be summed? What is done after the sum,
  // once?
  // TODO: where all ranks have 0 there is nothing to divide by.
  DIST_TODO("lab 08, part 1: divide by the L2 norm over the ranks");
}

void softmax_over_ranks(Tensor& data) {
  // TODO: exp(10000) is too large for any dtype. What may be subtracted from
  // all entries?
  // TODO: which operation finds it? Which one adds up the exps?
  DIST_TODO("lab 08, part 2: the softmax over the ranks");
}

void softmax_of_row(Tensor& shard) {
  // TODO: the largest entry of the row. What does a rank without entries say?
  // TODO: the sum of the row's exps. -inf - (-inf) is NaN: when does that
  // happen?
  DIST_TODO("lab 08, part 3: the softmax of a row that lies on all ranks");
}

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  // TODO: the larger max is the new one. Relative to which max was each sum
  // made?
  // TODO: neither side may have a max at all.
  DIST_TODO("lab 08, part 4: two pairs become one");
}

void softmax_in_one(Tensor& shard) {
  // TODO: the pair of my shard: once over its elements, with merge().
  // TODO: everybody's pairs; merge them in an order that is the same on all
  // ranks.
  DIST_TODO("lab 08, part 4: the softmax of the row, by one all_gather");
}

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  // TODO: -log(exp(x - max) / sum), simplified. Which of its numbers does every
  // rank know already?
  // TODO: whose element is the target? What do the others add?
  DIST_TODO("lab 08, part 5: the loss of a row that lies on all ranks");
}

}  // namespace lab
