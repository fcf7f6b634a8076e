// Lab 08, the specification: functions of the values of all ranks, built from the few operations of an
// all_reduce. You write them in distributed_softmax.cpp. Do not change this file.
//
// Every rank of the default group calls the functions; there are n ranks, possibly 1. Tensors are
// one-dimensional, f32 or f64, with the same dtype on all ranks; any number of elements, possibly none.
// Results are written in place, that is, in the memory that the caller gave. The library's collectives are
// allowed: each function says which, how many, and of how many elements. Nothing else is sent.
//
// An entry of a softmax is a finite number of any size (10,000 and -10,000 too) or -inf. An entry of -inf is
// masked: its probability is 0. If all entries are -inf, all probabilities are 0. A probability is as exact
// as its dtype allows for exp(x - max): a few roundings, however large x is.
#pragma once

#include <cstdint>
#include <limits>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// In Parts 1 and 2 every rank has a tensor of the same length k. Element i of the result is computed from the
// n elements i of all ranks, in the same way on all ranks.

// Part 1. The weighted mean over the ranks: the sum of weight * data over all ranks, divided by the sum of
// the weights.
// - Input: this rank's data and its weight, which is not negative. At least one rank's weight is not 0. No
//   rank knows the weights of the others.
// - Constraint: ONE all_reduce of at most k + 1 elements.
// - Example: rank 0 has [3] with weight 1, rank 1 has [6] with weight 2: both end with [5].
void weighted_mean(dist::Tensor& data, double weight);

// Part 1. Divides by the L2 norm over the ranks, the square root of the sum of the squares. Afterwards the
// squares of the n elements i add up to 1. Where all n elements are 0, they stay 0.
// - Constraint: ONE all_reduce of k elements.
// - Example: [3] on rank 0 and [4] on rank 1 become [0.6] and [0.8].
void normalize(dist::Tensor& data);

// Part 2. The softmax over the ranks: exp(x) of this rank, divided by the sum of exp(x) over all ranks.
// - Constraint: TWO all_reduces of k elements.
// - Example: four ranks with [1], [2], [3] and [4] get [0.03206], [0.08714], [0.2369] and [0.6439].
void softmax_over_ranks(dist::Tensor& data);

// In Parts 3 to 5 the ranks hold one long row together: rank 0 has its first elements, rank 1 the next ones,
// and so on. The elements of one rank are its shard. Shards may have very different lengths, and some may be
// empty.

// Part 3. The softmax of the row: every element becomes its exp, divided by the sum of exp over the whole
// row.
// - Constraint: at most TWO all_reduces of one or two numbers each, however long the row is.
// - Example: the shards [0], [] and [0, -inf] become [0.5], [] and [0.5, 0].
void softmax_of_row(dist::Tensor& shard);

// Part 4. What a softmax needs to know about a set of entries: the largest entry, and the sum of
// exp(x - max). The pair of a set without entries, or with masked entries only, is {-inf, 0}.
struct MaxSum {
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

// Part 4. Returns the pair of the union of two sets, from the pairs of the sets alone.
// - Constraint: {-inf, 0} is neutral on either side, and two of them give {-inf, 0} again. The result is
//   never NaN. The order in which pairs are merged, and how they are grouped, makes no difference except for
//   rounding.
// - Example: merge({10003, 1.1537}, {10004, 1}) is {10004, 1.4244}. The pair of a single entry x is {x, 1}.
MaxSum merge(const MaxSum& a, const MaxSum& b);

// Part 4. The softmax of the row, as softmax_of_row computes it, in one exchange.
// - Constraint: ONE all_gather (or all_gather_into_tensor), to which each rank contributes two numbers. Equal
//   entries get the same probability, bit for bit, on all ranks.
void softmax_in_one(dist::Tensor& shard);

// Part 5. The cross-entropy loss of a row of logits: -log of the probability of one element.
// - Input: this rank's shard. `target` is the index of the element in the whole row, counted from 0, the same
//   on all ranks. `first` is the number of elements on the ranks before: shard[0] is element `first` of the
//   row. At least one entry of the row is not masked.
// - Output: the loss, on every rank; +inf if the target is masked. The shard is not changed. The loss is
//   exact even if the probability itself is too small for its dtype.
// - Constraint: TWO all_reduces of one or two numbers each.
// - Example: in the row [0, 0] the loss of either target is log 2 = 0.6931.
double cross_entropy(const dist::Tensor& shard, std::int64_t first, std::int64_t target);

}  // namespace lab
