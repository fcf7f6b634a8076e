// Lab 08, the contract: functions of all ranks' numbers, made of the few operations that an all_reduce knows.
// You write these functions in distributed_softmax.cpp; this file stays as it is.
//
// Every rank of the default group calls them, n ranks in all, n = 1 too. Tensors are one-dimensional, f32 or
// f64, the same dtype on all ranks; any number of elements, also none. Results are in place: in the memory
// that the caller gave. Collectives of the library are allowed; each function says which, how many, and how
// long they may be. Nothing else is sent.
//
// An entry of a softmax is a finite number of any size (10,000 and -10,000 too) or -inf. -inf is a masked
// entry: its share is 0. Where all entries are -inf, all shares are 0. A share is as exact as its dtype lets
// exp(x - max) be: a few roundings, however large x is.
#pragma once

#include <cstdint>
#include <limits>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// In parts 1 and 2 every rank has a tensor of the same length k, and element i is computed from the n
// elements i, one of each rank; on all ranks the same way.

// Part 1. The weighted mean over the ranks: the sum of weight * data over all ranks, divided by the sum of
// the weights. Each rank knows its own weight only, which is 0 or more; one at least is not 0. ONE
// all_reduce, of at most k + 1 elements.
void weighted_mean(dist::Tensor& data, double weight);

// Part 1. Divided by the L2 norm over the ranks, the root of the sum of the squares: afterwards the squares
// of the n elements i add up to 1. Where all n are 0 they stay 0. ONE all_reduce of k elements.
void normalize(dist::Tensor& data);

// Part 2. The softmax over the ranks: exp(x) of this rank divided by the sum of exp(x) over all ranks. TWO
// all_reduces of k elements.
void softmax_over_ranks(dist::Tensor& data);

// In parts 3 to 5 the ranks hold one long row together: rank 0 its first elements, rank 1 the next ones, and
// so on. A rank's part is its shard. Shards may be of very different lengths; some may be empty.

// Part 3. The softmax of the row: every element becomes its exp divided by the sum of exp over the whole row.
// At most TWO all_reduces, of one or two numbers each, however long the row is.
void softmax_of_row(dist::Tensor& shard);

// Part 4. What a softmax must know of a set of entries: the largest, and the sum of exp(x - max). A set
// without entries, or with masked ones only, is {-inf, 0}.
struct MaxSum {
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

// Part 4. The pair of both sets together, from their pairs alone. {-inf, 0} is neutral: on either side it
// changes nothing, and two of them give {-inf, 0} again. Never NaN. In which order pairs are merged, and how
// they are grouped, makes no difference but for rounding.
MaxSum merge(const MaxSum& a, const MaxSum& b);

// Part 4. As softmax_of_row, by ONE all_gather (or all_gather_into_tensor) in which each rank gives two
// numbers. Equal entries get the same share, bit for bit, on whichever rank they are.
void softmax_in_one(dist::Tensor& shard);

// Part 5. The cross-entropy loss of a row of logits: -log of the share that the softmax gives to element
// `target` of the row, which counts from 0 and is the same on all ranks. `first` is the number of elements on
// the ranks before, so that shard[0] is element `first` of the row. The shard stays as it is. Returns the
// loss on every rank, exact also where the share itself is too small for its dtype; +inf if the target is
// masked. At least one entry is not. TWO all_reduces, of one or two numbers each.
double cross_entropy(const dist::Tensor& shard, std::int64_t first, std::int64_t target);

}  // namespace lab
