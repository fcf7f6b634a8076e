// The ways to all-reduce that come to mind first, to compare the others with.
//
// Parameter server: rank 0 receives everybody's data, adds it up and sends the sum to everybody (flat.h
// twice; Li et al., "Scaling distributed machine learning with the parameter server", 2014, with one server).
//   2(n-1)(o + beta S) + 2 alpha + gamma S     2(n-1) rounds; about 2 n S pass the server's port, n - 1 S
//   each
//                                              way, and S each way any other's (o: overhead, README.md)
// Naive exchange: every rank sends its data to every other one, and each adds up for itself.
//   (n-1)(alpha + beta S) + (n-1) gamma S      n-1 rounds; every rank sends and receives (n-1) S,
//                                              and copies 2 c S (c: README.md)
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one buffer like `data` on rank 0.
void parameter_server_all_reduce(Transport& net, TensorView data, ReduceOp op);

// In place. Scratch: n buffers like `data`, as all ranks add up in the order of the ranks and so get the same
// bits.
void naive_exchange_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
