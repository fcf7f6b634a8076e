// Lab 08: write these functions. README.md is the handout,
// distributed_softmax.h is the specification.
//
//   ./distlab run 8      runs the demonstration with your code
//   ./distlab grade 8    tests your code
//   ./distlab hint 8     prints a hint
#include "distributed_softmax.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dist/core/todo.h"

namespace lab {

using dist::ReduceOp, dist::Tensor;

// Useful in all parts: `auto x = data.to_vector<double>();`, and the reverse:
// `data.copy_(dist::tensor(std::span<const double>(x)));`.

void weighted_mean(Tensor& data, double weight) {
  // TODO: what does this rank contribute to the numerator, and what to the
  // denominator?
  // TODO: compute both sums in one all_reduce.
  DIST_TODO("lab 08, part 1: the weighted mean over the ranks");
}

void normalize(Tensor& data) {
  // TODO: which numbers may be summed over the ranks? What is done once, after
  // the sum?
  // TODO: where all ranks have 0, there is nothing to divide by.
  DIST_TODO("lab 08, part 1: divide by the L2 norm over the ranks");
}

void softmax_over_ranks(Tensor& data) {
  // TODO: exp(10000) is too large for any dtype. Which number may be subtracted
  // from all entries?
  // TODO: which operation finds it? Which one adds up the exps?
  DIST_TODO("lab 08, part 2: the softmax over the ranks");
}

void softmax_of_row(Tensor& shard) {
  // TODO: find the largest entry of the row. What does a rank without entries
  // contribute?
  // TODO: add up the row's exps. -inf - (-inf) is NaN: when does that happen?
  DIST_TODO("lab 08, part 3: the softmax of a row that is spread over all ranks");
}

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  // TODO: the larger max is the new one. To which max is each of the two sums
  // relative?
  // TODO: both sides may be without entries.
  DIST_TODO("lab 08, part 4: two pairs become one");
}

void softmax_in_one(Tensor& shard) {
  // TODO: compute the pair of my shard, in one pass over its elements, with
  // merge().
  // TODO: collect the pairs of all ranks, and merge them in the same order on
  // all ranks.
  DIST_TODO("lab 08, part 4: the softmax of the row, by one all_gather");
}

double cross_entropy(const Tensor& shard, std::int64_t first, std::int64_t target) {
  // TODO: simplify -log(exp(x - max) / sum). Which of these numbers does every
  // rank know already?
  // TODO: which rank has the target? What do the other ranks contribute?
  DIST_TODO("lab 08, part 5: the loss of a row that is spread over all ranks");
}

}  // namespace lab
