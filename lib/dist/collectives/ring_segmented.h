// The ring's all-reduce (ring.h) with several segments of each chunk under way: while a rank adds up one, the
// next one arrives and the one before leaves. It has the same neighbours and the same bytes; the latency of a
// message and the sum, which ring.h pays one after the other, overlap with the transfer. (Segments: Thakur,
// Rabenseifner, Gropp 2005; NCCL's slices.)
//
// S bytes, chunks of S/n in m segments of s = S/(n m) bytes, the fewest that are no larger than
// `segment_bytes`, w = min(m, 4) of them under way; h = o + beta s, how long a segment holds a port (o:
// overhead, README.md); alpha: the latency without it.
//   a step takes   f = m max(h, (h + alpha + gamma s)/w) in the reduce-scatter,
//                  g = m max(h, (h + alpha)/w) in the all-gather
//   about (n-1) f + (n-2) g + m h + alpha; about 2(n-1) m rounds
// m = 1: the ring. Where h is the larger: near 2(n-1) m o + 2(n-1)/n beta S.
//
// A rank sends 2(n-1) m messages. All ranks end with the same bits: each segment is summed once, in one
// order, then copied.
#pragma once

#include "dist/collectives/segments.h"
#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: two segments.
void ring_segmented_all_reduce(Transport& net, TensorView data, ReduceOp op,
                               std::int64_t segment_bytes = default_segment_bytes);

// m for `bytes` bytes of data; below, w.
int segments_of_chunk(std::int64_t bytes, int n, std::int64_t segment_bytes = default_segment_bytes);
inline constexpr int most_segments_under_way = 4;
inline int segments_under_way(int m) { return std::min(m, most_segments_under_way); }

}  // namespace dist
