// Runs a collective on ranks that map each other's memory.
#pragma once

#include "dist/backend/operation.h"
#include "dist/collectives/algorithms.h"

namespace dist {

// Not for premul_sum. Errors as the transport's.
void run_direct(PeerMemory& peers, const Operation& operation, DirectFunction algorithm,
                const RoundLabel& label);

}  // namespace dist
