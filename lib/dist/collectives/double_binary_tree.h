// All-reduce over two binary trees at once (trees.h), each for one half of the data: a rank that is inner in
// one tree is a leaf in the other, so that all ranks send and receive alike, and the bandwidth of a single
// tree's leaves is not wasted. The latency of the tree with nearly the bytes of the ring: the way for long
// data on many ranks. (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", 2009; NCCL since 2.4.)
//
// Edges are coloured (trees.h), and a step has four phases: each way, each colour. In a phase a rank sends at
// most one message and receives at most one, over both trees, and waits for both, so that no message holds up
// another at a port; it adds up what came in one phase while the next is under way. (Without the phases
// messages of two trees get into each other's way: two to six times the time in the simulator.)
//
// S bytes, each half in m segments of s bytes (segments.h), L = ceil(log2 n); o: overhead, README.md, and
// alpha the way alone:
//   about (4L - 2)(o + beta s) + 2L alpha + (2L - 1) gamma s + 4 (m - 1)(o + alpha + beta s)
//   (0.85 to 1.4 of it in the simulator for n > 2): near 2L alpha + 2 beta S once m is much larger than L and
//   a segment's time larger than its way
// At most 4L + 4 rounds for m = 1, at most 4m + 8L rounds for m segments, or 7m + 8L where sends
// are buffered: ranks that do not wait for their receivers get ahead of the phases.
//
// Both trees' edges carry their half once each way: 4(n-1) m messages in all. A rank sends at most 2S, m
// messages to its parents and to each of its children. All ranks end with the same bits: each half's sums are
// made once, at its root.
#pragma once

#include "dist/collectives/segments.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one segment for each child.
void double_binary_tree_all_reduce(Transport& net, TensorView data, ReduceOp op,
                                   std::int64_t segment_bytes = default_segment_bytes);

}  // namespace dist
