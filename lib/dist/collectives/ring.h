// Ring algorithms: every rank sends to rank + 1 and receives from rank - 1, nothing else.
//
// All-reduce as reduce-scatter then all-gather (Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", 2009). Each rank sends less than twice its own data, whatever n is; the
// price is n - 1 messages one after the other in each phase.
//
// Costs for S bytes in all, in n chunks (chunk: one rank's part; with uneven counts the largest one counts):
//   reduce_scatter  (n-1) alpha + (n-1)/n beta S + (n-1)/n gamma S     n-1 rounds
//   all_gather      (n-1) alpha + (n-1)/n beta S                       n-1 rounds
//   all_reduce      2(n-1) alpha + 2(n-1)/n beta S + (n-1)/n gamma S   2(n-1) rounds
// Every rank sends n-1 messages per phase: in the reduce-scatter all chunks but its own, in the all-gather
// all chunks but the next rank's. All ranks end with the same bits: each chunk is reduced once, in one order,
// then copied.
#pragma once

#include <span>

#include "dist/collectives/chunks.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one chunk.
void ring_all_reduce(Transport& net, TensorView data, ReduceOp op);

// ins[i]: this rank's contribution to rank i, unchanged; out: the sum of all ranks' ins[rank], may be
// ins[rank] itself. All ranks pass the same counts. Scratch: two chunks.
void ring_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op);

// outs[i]: rank i's `in`; `in` may be outs[rank] itself. All ranks pass the same counts. No scratch.
void ring_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs);

// This rank's place in a ring of some of the ranks; algorithms with several rings are made of these.
struct Ring {
  int size = 1, place = 0;     // 0 to size - 1
  int previous = 0, next = 0;  // ranks of the transport
};
// All ranks in order, starting with `first`.
Ring ring_of_all(const Transport& net, int first = 0);

// As above, but among the ranks of the ring, and in place; chunks: one for each place. A ring of one sends no
// messages.
void ring_all_reduce(Transport& net, const Ring& ring, TensorView data, ReduceOp op);
// Afterwards chunk `place` is complete on this rank; its other chunks are undefined.
void ring_reduce_scatter_chunks(Transport& net, const Ring& ring, const Chunks& chunks, ReduceOp op);
// Before, chunk `place` is complete on this rank; afterwards, all chunks are.
void ring_all_gather_chunks(Transport& net, const Ring& ring, const Chunks& chunks);
// ins: one for each place, unchanged; out: the sum of all places' ins[place].
void ring_reduce_scatter(Transport& net, const Ring& ring, std::span<const TensorView> ins, TensorView out,
                         ReduceOp op);

}  // namespace dist
