// All-reduce by recursive doubling: in round k, rank r swaps everything it has with rank r xor 2^k, so that
// groups of 2, 4, 8, ... ranks have the same sum. It is good for small messages: few rounds, each with all of
// the data. (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
// 2005.)
//
// With p the highest power of two <= n, the n - p ranks beyond it first hand their data to rank - p and get
// the result back at the end.
//   n = p   log2 n (alpha + beta S + gamma S)                          log2 n rounds
//   n > p   (log2 p + 2)(alpha + beta S) + (log2 p + 1) gamma S        floor(log2 n) + 2 rounds
// For n > p, ranks without a partner beyond p need not wait at the start. Where sends are buffered, their
// first message can take a port before that of a rank beyond p: o + beta S more at most (o: overhead,
// README.md). A rank sends log2 p messages of S bytes, one more if it has a partner beyond p; a rank beyond p
// sends one. All ranks end with the same bits: both ranks of a pair compute op(lower rank's, higher rank's),
// so the order of the operands is the same even for operations that are not commutative on every input (max
// with NaN).
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one buffer like `data`.
void recursive_doubling_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
