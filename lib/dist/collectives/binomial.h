// Algorithms on the binomial tree (trees.h), each ceil(log2 n) rounds: L below. They are good when latency
// counts, which is for small data; every rank that has its part helps to serve the rest.
//
//   broadcast   L (alpha + beta S)               the root sends L messages of S bytes, a leaf none
//   reduce      L (alpha + beta S + gamma S)     the mirror image
//   scatter     L alpha + (n-1)/n beta S         a child gets all parts of its subtree in one message
//   gather      L alpha + (n-1)/n beta S         the mirror image
//   all-reduce  2 L (alpha + beta S) + L gamma S reduce to rank 0, then broadcast: the baseline
// when n is a power of two, and at most that for other n: also L rounds, but with fewer latencies (alpha) one
// after the other.
//
// A reduce's inner ranks first copy their data, c S more (c: README.md).
//
// S: all of the data (for scatter and gather the root's list). Every rank but the root receives (or, in
// reduce and gather, sends) exactly one message, so n - 1 messages are sent in all. (Thakur, Rabenseifner,
// Gropp 2005, section 3.)
#pragma once

#include <span>

#include "dist/transport/transport.h"

namespace dist {

// In place. No scratch.
void binomial_broadcast(Transport& net, TensorView data, int root);

// On the root: contribution and result; on the other ranks the contribution, unchanged. Scratch: an inbox
// like `data` on ranks that have children, and a second buffer for the partial sum on those of them that are
// not the root.
void binomial_reduce(Transport& net, TensorView data, ReduceOp op, int root);

// Scatter and gather need equal counts, because ranks in between know only their own. The root refuses uneven
// ones with Error{invalid_argument} before it sends anything. Scratch: the subtree's parts on ranks that have
// children. scatter: ins (on the root, one view per rank), out on every rank; out may be ins[root] on the
// root.
void binomial_scatter(Transport& net, std::span<const TensorView> ins, TensorView out, int root);
// gather: in on every rank, outs (on the root, one view per rank); in may be outs[root] on the root.
void binomial_gather(Transport& net, TensorView in, std::span<const TensorView> outs, int root);

// In place.
void reduce_broadcast_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
