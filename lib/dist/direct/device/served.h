// Collectives of ranks that share devices: on each device one rank, the worker, moves the data of all ranks
// there, with one launch. Kernels of processes that share a GPU take turns, about 50 us each, and one rank's
// kernel is as fast as the kernels of all ranks together.
//
// Every rank shows its worker where its inputs and outputs are. The worker reads the inputs on whichever
// device they are, and writes the outputs of its own device.
#pragma once

#include "dist/direct/device/device_call.h"

namespace dist {

// For scatter, gather, all_gather, reduce_scatter and all_to_all; null for others, whose bodies in
// on_rounds.h share the work among the workers already, and where `ranks` are so many that a notice cannot
// list what they show.
const DeviceAlgorithm* served_algorithm(OpKind collective, int ranks);

}  // namespace dist
