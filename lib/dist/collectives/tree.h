// All-reduce over the in-order binary tree (trees.h): segments are reduced on their way up to rank 0 and
// copied on their way down, and the two directions overlap. Its latency grows with log n where the ring's
// grows with n.
//
// S bytes in m segments (segments.h), D = depth of the tree <= ceil(log2 n). An inner rank handles three
// arrivals per segment (two children's sums going up, the parent's result coming down) and three departures,
// at the same time:
//   about 2D alpha + 3 beta S once m is much larger than D, where sums take less time than transfers: they
//   overlap with them in part (in the simulator between 3 (m o + beta S) and 1.25 times that + 2D alpha
//   + 2 gamma S)
// m = 1: (4D - 2)(o + beta S) + 2D alpha + (D to 2D - 1) gamma S for n a power of two, otherwise at most that
//   (o: overhead, README.md; two children take turns at a port, the root has one child)
// At most 4D - 2 rounds for m = 1 and n > 1, at most 3m + 4D + 2 rounds for m segments.
//
// A rank sends m messages, S bytes, to its parent and to each of its children. All ranks end with the same
// bits: the sums are made once, at the root.
#pragma once

#include "dist/collectives/segments.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one segment for each child.
void tree_all_reduce(Transport& net, TensorView data, ReduceOp op,
                     std::int64_t segment_bytes = default_segment_bytes);

}  // namespace dist
