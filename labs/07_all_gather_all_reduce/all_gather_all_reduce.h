// Lab 07, the specification: every rank gets all data, every rank gets the sum, and two uses of the sum.
// You write these functions in all_gather_all_reduce.cpp. Do not change this file.
//
// Every rank of the default group calls the functions; there are n ranks, possibly 1. A tensor that is passed
// to a function has the same length and dtype on all ranks: f32, f64 or i64, any number of elements, possibly
// none. Results are written in place, that is, in the memory that the caller gave. Allowed calls: send, recv,
// isend, irecv, batch_isend_irecv, and your own functions of this file. The library's collectives are not
// allowed.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. The ring all_gather.
// - Input: `mine` has k elements. `all` has n * k elements. `mine` may be this rank's own chunk of `all` (a
//   narrow() of it).
// - Output: on every rank, chunk r of `all`, that is, the k elements from r * k on, holds rank r's `mine`.
//   `mine` is not changed.
// - Constraint: n - 1 rounds. In each round every rank sends one chunk to the next rank (after n - 1 comes 0)
//   and receives one from the rank before, and communicates with no other rank. So it sends (n - 1) * k
//   elements in all, (n - 1)/n of the output.
// - Example: three ranks with [1, 2], [3, 4] and [5, 6]. Afterwards `all` is [1, 2, 3, 4, 5, 6] on every
//   rank.
void all_gather(dist::Tensor& all, const dist::Tensor& mine);

// Part 2. The sum over all ranks, element by element, in place.
// - Constraint: a reduce to rank 0, then a broadcast from rank 0, both along a tree: at most 2 * ceil(log2 n)
//   rounds, and exactly 2(n - 1) messages in all, each of the whole tensor. All ranks end with the same bits,
//   whatever the values are. i64 is summed as i64: exactly, also beyond 2^53.
// - Example: four ranks with [1, 0], [2, 10], [3, 20] and [4, 30] all end with [10, 60].
void all_reduce_sum(dist::Tensor& data);

// Part 3. The mean over all ranks, element by element, in place, with the same bits on all ranks.
// - Error: dist::Error{invalid_argument} on every rank, before anything is sent, if the dtype is neither f32
//   nor f64.
// - Example: in the example of Part 2 every rank ends with [2.5, 15].
void all_reduce_avg(dist::Tensor& data);

// Part 4. The accuracy of a model on a test set of which every rank has evaluated its own shard.
// - Input: of the `seen` samples of this rank's shard, `correct` were classified correctly. Shards may have
//   very different sizes, and `seen` may be 0.
// - Output: the fraction of correct answers among the samples of ALL ranks, from 0 to 1, the same on every
//   rank.
// - Constraint: ONE all_reduce of two numbers. Counts are exact up to a total of 2^53.
// - Error: dist::Error{invalid_argument} on every rank if no rank has seen a sample.
// - Example: 10 of 10 on rank 0 and 0 of 1000 on rank 1: both return 10 / 1010 = 0.0099.
double global_accuracy(std::int64_t correct, std::int64_t seen);

}  // namespace lab
