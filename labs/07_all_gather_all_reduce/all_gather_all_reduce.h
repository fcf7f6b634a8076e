// Lab 07, the contract: everybody gets everything, everybody gets the sum, and what they are good for.
// You write these functions in all_gather_all_reduce.cpp; this file stays as it is.
//
// Every rank of the default group calls them, n ranks in all, n = 1 too. Tensors of one call have the same
// length and dtype on all ranks: f32, f64 or i64, any number of elements, also none. Results are in place:
// in the memory that the caller gave. Allowed are send, recv, isend, irecv and batch_isend_irecv, and your
// own functions of this file; no collective of the library.
#pragma once

#include <cstdint>

#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// Part 1. The ring. `mine` is [k], `all` is [n * k]; afterwards part r of `all`, the elements from r * k on,
// is rank r's `mine`, on every rank. `mine` stays as it is, and may be this rank's own part of `all` (a
// narrow() of it). Each rank sends to the next one (after n - 1 comes 0) and receives from the one before,
// and from and to nobody else. n - 1 rounds; in each it sends one part, so (n - 1) * k elements in all, which
// is (n - 1)/n of the output.
void all_gather(dist::Tensor& all, const dist::Tensor& mine);

// Part 2. The sum over all ranks, in place: a reduce to rank 0, then a broadcast from it, both along a tree.
// At most 2 * ceil(log2 n) rounds and exactly 2(n - 1) messages in all, each of the whole tensor. All ranks
// end up with the same bits, whatever the numbers. i64 is summed as i64: exactly, also beyond 2^53.
void all_reduce_sum(dist::Tensor& data);

// Part 3. The mean over all ranks, in place; f32 or f64, otherwise Error{invalid_argument} on every rank
// before anything moves. The same bits on all ranks.
void all_reduce_avg(dist::Tensor& data);

// Part 4. Every rank has evaluated a model on a shard of its own: of `seen` samples `correct` were right. The
// shards may be of very different sizes, and `seen` may be 0. Returns the share of right answers among ALL
// samples, a number from 0 to 1, the same on every rank, by ONE all_reduce of two numbers. If no rank has
// seen a sample there is no such share: Error{invalid_argument} on every rank. Counts are exact up to 2^53 in
// all.
double global_accuracy(std::int64_t correct, std::int64_t seen);

}  // namespace lab
