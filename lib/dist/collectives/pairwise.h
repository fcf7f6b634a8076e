// Pairwise exchange: in step k = 1 ... n-1 every rank sends to rank + k and receives from rank - k, so that
// each port has one message at a time and every pair meets once. The data goes straight to its destination.
// (Thakur, Rabenseifner, Gropp, 2005, for large messages.)
//
// S: all of the data of one rank; with counts that differ each step takes as long as its largest message.
//   all_to_all      (n-1) alpha + (n-1)/n beta S                       n-1 rounds
//   reduce_scatter  (n-1) alpha + (n-1)/n beta S + (n-1)/n gamma S     n-1 rounds
//   all_gather      (n-1) alpha + (n-1)/n beta S                       n-1 rounds
//   all_reduce      2(n-1) alpha + 2(n-1)/n beta S + (n-1)/n gamma S   2(n-1) rounds: both of the above
// The same bytes as the ring, on n-1 links instead of one: better than the ring where every pair has a link
// of its own, worse where distant pairs share links. Every rank sends n-1 messages.
#pragma once

#include <span>

#include "dist/transport/transport.h"

namespace dist {

// ins[i] goes to rank i, outs[i] comes from rank i; counts may differ. No scratch.
void pairwise_all_to_all(Transport& net, std::span<const TensorView> ins, std::span<const TensorView> outs);

// ins[i]: contribution to rank i, unchanged; out may be ins[rank]. All ranks pass the same counts. Scratch:
// one chunk.
void pairwise_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op);

// outs[i]: rank i's `in`; `in` may be outs[rank]. All ranks pass the same counts. No scratch.
void pairwise_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs);

// In place. Scratch: one chunk.
void pairwise_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
