// Rabenseifner's algorithms: a reduce-scatter by recursive halving (halving.h), then the blocks are gathered
// again, by every rank (all-reduce) or by the root (reduce). They send the bytes of the ring in the rounds of
// the tree, and are good for large data where n is a power of two and every pair has a link of its own.
// (Rabenseifner, "Optimization of collective reduction operations", 2004; Thakur, Rabenseifner, Gropp 2005,
// sections 4.4 and 4.5.)
//
// With p the highest power of two <= n, the n - p ranks beyond it first hand their data to a rank below p; an
// all-reduce gives them the result at the end, from that rank.
//   all_reduce  n = p   2 log2 n alpha + 2(n-1)/n beta S + (n-1)/n gamma S                2 log2 n rounds
//               n > p   (2 log2 p + 2) alpha + (4 - 2/p) beta S + (2 - 1/p) gamma S   2 log2 p + 2 rounds
//   reduce      n = p   2 log2 n alpha + 2(n-1)/n beta S + (n-1)/n gamma S                2 log2 n rounds
//               n > p   (2 log2 p + 1) alpha + (3 - 2/p) beta S + (2 - 1/p) gamma S   2 log2 p + 1 rounds
// For n > p, where sends are buffered, a rank's first message can take a port before that of a rank beyond p:
// o + beta S/2 more at most (o: overhead, README.md).
// In a phase a rank sends log2 p messages, S - S/p bytes; handing over data takes a message of S bytes. (In a
// reduce's second phase a rank sends one message, with the blocks it holds.) All ranks end with the same
// bits: each block is summed on one rank, then copied. A reduce first copies the data on ranks that are not
// the root: c S more (c: README.md).
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: half of `data`; all of it on ranks with a partner beyond p.
void rabenseifner_all_reduce(Transport& net, TensorView data, ReduceOp op);

// On the root: contribution and result; on the other ranks the contribution, unchanged. Scratch: as above,
// and on ranks that are not the root a buffer like `data` for the partial sums (beyond p: none).
void rabenseifner_reduce(Transport& net, TensorView data, ReduceOp op, int root);

}  // namespace dist
