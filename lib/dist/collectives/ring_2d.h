// Reductions on a grid: the ranks in rows and columns, and rings along both. All-reduce: reduce-scatter in
// the row, all-reduce of this rank's chunk in the column, all-gather in the row: it sends the bytes of one
// ring with far fewer messages one after the other. (Barnett, Littlefield, Payne, van de Geijn, "Global
// combine on mesh architectures with wormhole routing", 1993; Ying et al., "Image classification at
// supercomputer scale", 2018, for machines whose network is a torus.)
//
// The grid has r rows of c ranks, n = r c, where r is the largest divisor of n that is at most its square
// root; rank = row * c + column. If n is prime, there is one row: the ring.
//   all_reduce      (2(c-1) + 2(r-1)) alpha + 2(n-1)/n beta S + (n-1)/n gamma S     2(c-1) + 2(r-1) rounds
//   reduce_scatter  (c-1 + r-1) alpha + (n-1)/n beta S + (n-1)/n gamma S + c S      c-1 + r-1 rounds
// In the all-reduce every rank sends 2(c-1) messages of S/c bytes along the row, and 2(r-1) of S/n along the
// column. All ranks end with the same bits: each part is summed once, then copied. The reduce-scatter starts
// in the column, r-1 messages of S/r bytes, because the parts of one row are consecutive; then come c-1 of
// S/n along the row. (c S: it copies its parts into one piece of memory.)
#pragma once

#include "dist/collectives/ring.h"
#include "dist/transport/transport.h"

namespace dist {

// The rows of the grid on n ranks: the largest divisor of n that is at most its square root.
int rows_of_grid(int n);

// In place. Scratch: one chunk, S/c.
void ring_2d_all_reduce(Transport& net, TensorView data, ReduceOp op);

// ins[i]: this rank's contribution to rank i, unchanged; out: the sum of all ranks' ins[rank], may be
// ins[rank] itself. All ranks pass the same counts. Scratch: S, and three rows of S/r.
void ring_2d_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op);

// The same all-reduce along any two rings: `within`, whose ranks divide the data among themselves, and
// `across`, which is made of the ranks at equal places in the other rings. For hierarchical.h.
void two_ring_all_reduce(Transport& net, const Ring& within, const Ring& across, TensorView data,
                         ReduceOp op);

}  // namespace dist
