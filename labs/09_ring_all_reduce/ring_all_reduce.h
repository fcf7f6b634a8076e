// Lab 09, the specification: the sum over all ranks, around a ring.
// You write these functions in ring_all_reduce.cpp. Do not change this file.
//
// Every rank of the default group calls the functions; there are n ranks, possibly 1. `data` has one axis,
// and the same length and dtype on all ranks: f32, f64 or i64, any number of elements, also none and fewer
// than n. Results are written in place, that is, in the memory that the caller gave. Allowed calls: send,
// recv, isend, irecv, batch_isend_irecv, and your own functions of this file. The library's collectives are
// not allowed.
//
// The data is cut into n chunks, one for each rank: chunk i is data.chunk(n)[i]. Their lengths differ by at
// most one element, and may be 0. A rank sends only to the next rank (after n - 1 comes 0), and receives only
// from the rank before. In one step every rank sends one message and receives one, at the same time. Scratch
// is memory that you allocate in addition to `data`.
#pragma once

#include <cstdint>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// acc += arrived, for equal lengths and dtypes. Unlike acc.add_(arrived), it also tells the simulator how
// long the addition takes and whose values are now in the sum. (The library's own ring adds with the same
// kernel.)
inline void add(dist::Tensor& acc, const dist::Tensor& arrived) {
  dist::reduce(acc.flat(), arrived.flat(), dist::ReduceOp::sum);
}

// Part 1. The reduce-scatter.
// - Output: chunk `rank` holds the sum over all ranks. What the other chunks hold does not matter.
// - Constraint: n - 1 steps; in each, one chunk is sent and one is received. Scratch: one chunk.
// - Example: 4 ranks, and rank r holds [10r, 10r + 1, 10r + 2, 10r + 3]. Afterwards the chunk of rank 0 is
//   [60], that of rank 1 [64], that of rank 2 [68] and that of rank 3 [72].
void reduce_scatter(dist::Tensor& data);

// Part 2. The all-gather.
// - Input: chunk `rank` holds this rank's result. What the other chunks hold does not matter.
// - Output: on every rank, every chunk holds the result of its rank.
// - Constraint: n - 1 steps; in each, one chunk is sent and one is received. No scratch.
// - Example: after the example of Part 1, every rank ends with [60, 64, 68, 72].
void all_gather(dist::Tensor& data);

// Part 3. The sum over all ranks, on every rank, with the same bits on all of them.
// - Constraint: 2(n - 1) steps. A rank sends two of the chunks once and all others twice: 2(n - 1)/n of the
//   data. Scratch: one chunk.
// - Example: [10r, ..., 10r + 3] on 4 ranks becomes [60, 64, 68, 72] on all of them.
void ring_all_reduce(dist::Tensor& data);

// Part 4. The same ring and the same bytes, but the additions are hidden behind the messages.
// - Input: `segment` is the number of elements of a segment (positive). A segment is the piece of the data
//   that is kept in flight.
// - Output: as in Part 3.
// - Constraint: every chunk travels in m = ceil(longest chunk / segment) segments: segment k of chunk c is
//   data.chunk(n)[c].chunk(m)[k]. While one segment is added, the next one arrives. A rank sends 2(n - 1) m
//   messages. Scratch: two segments. If m >= 4 and adding a segment takes less time than sending it, the
//   whole call takes little more virtual time than its messages need at a port.
// - Example: 16 elements on 4 ranks with segment = 2: m = 2, and each rank sends 12 messages of 2 elements.
void all_reduce_pipelined(dist::Tensor& data, std::int64_t segment);

}  // namespace lab
