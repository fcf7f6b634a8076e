// Reductions that an algorithm cannot run as they are: avg and premul_sum, and a reduce_scatter in place.
#pragma once

#include <functional>

#include "dist/backend/operation.h"
#include "dist/collectives/algorithms.h"
#include "dist/transport/transport.h"

namespace dist {

// Carries out the collective on these arguments.
using CollectiveFunction = std::function<void(const CollectiveArgs& args)>;

// Whether `operation`, on this rank, is one of those.
bool needs_parts(const Operation& operation, int rank);
// Blocks until this rank's part is done. `run` gets base operations only.
void run_in_parts(Transport& net, const Operation& operation, const CollectiveFunction& run);

}  // namespace dist
