// All-reduce over two binary trees at once (trees.h), each for one half of the data: a rank that is inner in
// one tree is a leaf in the other, so that all ranks send and receive the same amount, and the bandwidth of a
// single tree's leaves is not wasted. It has the latency of the tree with nearly the bytes of the ring, and
// is good for large data on many ranks. (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", 2009; NCCL since 2.4.)
//
// Edges are coloured (trees.h), and a step has four phases: one for each direction and colour. In a phase a
// rank sends at most one message and receives at most one, over both trees, and waits for both, so that no
// message holds up another at a port; it adds up what arrived in one phase during the next. (Without the
// phases, messages of the two trees delay each other: two to six times the time in the simulator.)
//
// S bytes, each half in m segments of s bytes (segments.h), L = ceil(log2 n); o: overhead, README.md; alpha:
// the latency without it:
//   about (4L - 2)(o + beta s) + 2L alpha + (2L - 1) gamma s + 4 (m - 1)(o + alpha + beta s)
// (0.85 to 1.4 times that in the simulator for n > 2): near 2L alpha + 2 beta S once m is much larger than L
//   and a segment's time larger than its latency
// At most 4L + 4 rounds for m = 1, at most 4m + 8L rounds for m segments, or 7m + 8L where sends
// are buffered: ranks that do not wait for their receivers get ahead of the phases.
//
// The edges of both trees carry their half once in each direction: 4(n-1) m messages in all. A rank sends at
// most 2S, m messages to each of its parents and to each of its children. All ranks end with the same bits:
// each half is summed once, at its root.
#pragma once

#include "dist/collectives/segments.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one segment for each child.
void double_binary_tree_all_reduce(Transport& net, TensorView data, ReduceOp op,
                                   std::int64_t segment_bytes = default_segment_bytes);

}  // namespace dist
