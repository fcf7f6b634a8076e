// Broadcast along the chain root, root+1, ..., pipelined: each rank passes a segment on while the next one
// arrives. It is good for large data: every rank sends all of it at most once, the root exactly once,
// whatever n is.
//
// S bytes in m segments (segments.h):
//   (n + m - 2)(o + beta S/m) + (n - 1) alpha     n + m - 2 rounds; near beta S once m is much larger than n
// (o: overhead, README.md. A shorter last segment takes less.)
// Every rank but the last sends m messages, S bytes in all, to its successor.
//
// Reduce along the same chain towards the root: each rank adds its part of a segment while the next one
// arrives. With more than two ranks a segment is reduced before it is passed on:
//   (n - 1)(o + alpha + beta S/m + gamma S/m) + (m - 1)(o + beta S/m + gamma S/m)
// Every rank but the root sends m messages, S bytes in all: for large data less than half of what a ring
// all_reduce sends.
#pragma once

#include "dist/collectives/segments.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. No scratch.
void chain_broadcast(Transport& net, TensorView data, int root,
                     std::int64_t segment_bytes = default_segment_bytes);

// On the root: contribution and result; on the other ranks the contribution, unchanged. Scratch: two
// segments.
void chain_reduce(Transport& net, TensorView data, ReduceOp op, int root,
                  std::int64_t segment_bytes = default_segment_bytes);

}  // namespace dist
