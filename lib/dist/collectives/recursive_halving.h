// Reduce-scatter by recursive halving (halving.h): log2 n rounds, each with half of the bytes of the one
// before. It sends the bytes of the ring without its n - 1 messages, where every pair has a link of its own.
// (Thakur, Rabenseifner, Gropp 2005, section 4.2, for commutative operations.)
//
// With p the highest power of two <= n and e = n - p, the e ranks beyond p hand all of their contributions to
// the rank p places before, which then works for both and hands the sum over at the end. S: all of the data
// of one rank, in n equal parts.
//   n = p   log2 n alpha + (n-1)/n (beta + gamma) S                                       log2 n rounds
//   n > p   (log2 p + 2) alpha + (1 + h + 1/n) beta S + (1 + h) gamma S             log2 p + 2 rounds
//           h: the sum of (d + min(d, e))/n over d = 1, 2, 4, ... p/2; about 1
// For n > p, where sends are buffered, a rank's first message can take a port before that of a rank beyond p:
// o + beta S 2/3 more at most (o: overhead, README.md). A rank also copies all of its data, c S. With counts
// that differ each round takes as long as its largest message. A rank sends log2 p messages, one more if it
// has a partner beyond p; a rank beyond p sends one.
#pragma once

#include <span>

#include "dist/transport/transport.h"

namespace dist {

// ins[i]: contribution to rank i, unchanged; out: the sum of all ranks' ins[rank], may be ins[rank] itself.
// All ranks pass the same counts. Scratch: on ranks within p, a copy of all contributions and an inbox as
// large. Beyond p: a copy of all contributions.
void halving_reduce_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, ReduceOp op);

}  // namespace dist
