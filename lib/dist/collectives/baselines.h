// The all-reduces that come to mind first, for comparison with the others.
//
// Parameter server: rank 0 receives every rank's data, adds it up and sends the sum to every rank (flat.h
// twice; Li et al., "Scaling distributed machine learning with the parameter server", 2014, with one server).
// 2(n-1)(o + beta S) + 2 alpha + gamma S     2(n-1) rounds; about 2 n S pass the server's port, (n - 1) S in
//                                              each direction, and S in each direction any other rank's port
//                                              (o: overhead, README.md)
// Naive exchange: every rank sends its data to every other one, and each rank adds up all of it.
//   (n-1)(alpha + beta S) + (n-1) gamma S      n-1 rounds; every rank sends and receives (n-1) S,
//                                              and copies 2 c S (c: README.md)
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// In place. Scratch: one buffer like `data` on rank 0.
void parameter_server_all_reduce(Transport& net, TensorView data, ReduceOp op);

// In place. Scratch: n buffers like `data`, because all ranks add up in rank order and so get the same
// bits.
void naive_exchange_all_reduce(Transport& net, TensorView data, ReduceOp op);

}  // namespace dist
