// The collectives: each is the call that MPI has for it.
#pragma once

#include "dist/backend/mpi/flight.h"
#include "dist/collectives/algorithms.h"
#include "dist/core/op_kind.h"

namespace dist::mpi {

// Blocks until this rank's part is done. Throws the same errors as Flight.
void run(Flight& flight, OpKind kind, const CollectiveArgs& args);

}  // namespace dist::mpi
