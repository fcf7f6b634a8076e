// All-reduce for several nodes, where links within a node are faster than those between nodes
// (Transport::node_of): reduce-scatter within each node, all-reduce across nodes among the ranks with equal
// places in their nodes, all-gather within each node. Only S/g bytes of each rank's data cross a node's
// border in each direction, and the ranks of a node share its network cards. (Jia et al., "Highly scalable
// deep learning training system with mixed-precision", 2018; Horovod's hierarchical all-reduce, NCCL's rings
// through several nodes.)
//
// N nodes of g ranks each, n = N g; alpha, beta within a node, alpha', beta' between nodes:
//   2(g-1) alpha + 2(g-1)/g beta S + 2(N-1) alpha' + 2(N-1)/n beta' S + (n-1)/n gamma S
//   2(g-1) + 2(N-1) rounds
// With one node, or one rank per node, it is the ring.
//
// Nodes of different sizes: g is the smallest node's size. The ranks beyond g of a larger node first hand
// their data to the first g ranks, in turn, and get the result from them at the end: with at most k ranks for
// one of those, 2k (alpha + beta S) + k gamma S more. Ranks of a node need not be neighbours. All ranks end
// with the same bits: each part is summed once, then copied.
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one chunk, S/g, at a time; one buffer like `data` on ranks that others hand their data
// to.
void hierarchical_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
