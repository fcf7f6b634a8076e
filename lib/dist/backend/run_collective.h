// One collective Operation, run by an algorithm on a Transport.
#pragma once

#include "dist/backend/operation.h"
#include "dist/collectives/algorithms.h"
#include "dist/transport/transport.h"

namespace dist {

// Blocks until this rank's part is done. Takes avg and premul_sum apart: algorithms know sums only.
void run_collective(Transport& net, const Operation& operation, AlgorithmFunction algorithm);

}  // namespace dist
