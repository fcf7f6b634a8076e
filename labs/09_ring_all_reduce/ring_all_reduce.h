// Lab 09, the contract: the sum over all ranks, around a ring.
// You write these functions in ring_all_reduce.cpp; this file stays as it is.
//
// Every rank of the default group calls them, n ranks in all, n = 1 too. `data` has one axis, and the same
// length and dtype on all ranks: f32, f64 or i64, any number of elements, also none and fewer than n. Results
// are in place: in the memory that the caller gave. Allowed are send, recv, isend, irecv and
// batch_isend_irecv, and your own functions of this file; no collective of the library.
//
// A chunk is one rank's share of the data: chunk i is data.chunk(n)[i]. Lengths of chunks differ by at most
// one element, and may be 0. A rank sends to the next rank only (after n - 1 comes 0), and receives from the
// one before only. A step: one message out, one message in, at the same time. Scratch is memory that you
// allocate beside `data`.
#pragma once

#include <cstdint>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"
#include "dist/group/process_group.h"

namespace lab {

// acc += arrived; lengths and dtypes are equal. As acc.add_(arrived), and what is more, the simulator charges
// the time that it takes, and its pictures know whose numbers are in the sum. The library's own ring adds by
// the same kernel.
inline void add(dist::Tensor& acc, const dist::Tensor& arrived) {
  dist::reduce(acc.flat(), arrived.flat(), dist::ReduceOp::sum);
}

// Part 1. Afterwards chunk `rank` holds the sum over all ranks; what the other chunks hold does not matter.
// n - 1 steps, in each a chunk out and a chunk in. Scratch: one chunk.
void reduce_scatter(dist::Tensor& data);

// Part 2. Before, chunk `rank` holds this rank's result, and the other chunks anything. Afterwards every
// chunk holds its rank's result, on every rank. n - 1 steps. No scratch.
void all_gather(dist::Tensor& data);

// Part 3. The sum over all ranks, on every rank. 2(n - 1) steps; a rank sends each chunk but two of them
// twice, and these two once: 2(n - 1)/n of the data. Scratch: one chunk. All ranks end up with the same bits.
void ring_all_reduce(dist::Tensor& data);

// Part 4. The same ring, the same bytes, and the adding costs no time any more. Each chunk travels in m
// segments; a segment is the piece that is kept in flight. m = ceil(longest chunk / segment) for all chunks,
// so segment k of chunk c is data.chunk(n)[c].chunk(m)[k]; `segment` counts elements and is positive. While
// one segment is added, the next one arrives. A rank sends 2(n - 1) m messages. Scratch: two segments. With
// m >= 4, and where adding a segment takes less time than sending it, all of it takes little more virtual
// time than its messages need at a port.
void all_reduce_pipelined(dist::Tensor& data, std::int64_t segment);

}  // namespace lab
