// The collectives by NCCL's calls.
#pragma once

#include "dist/backend/nccl/communicator.h"
#include "dist/backend/operation.h"

namespace dist::nccl {

// Enqueues this rank's part on the current stream. Throws the same errors as Communicator::run().
void run(Communicator& communicator, const Operation& operation, const Patience& patience);

}  // namespace dist::nccl
