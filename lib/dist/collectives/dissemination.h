// Dissemination barrier (Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988): in
// round k every rank notifies rank + 2^k that it has arrived, and names all ranks whose arrival it knows of.
// After ceil(log2 n) rounds every rank knows of every other; no rank is special, and n need not be a power
// of two.
//   ceil(log2 n) alpha     ceil(log2 n) rounds; every rank sends and receives as many empty messages
#pragma once

#include "dist/transport/transport.h"

namespace dist {

// Returns when all ranks have called it.
void dissemination_barrier(Transport& net);

}  // namespace dist
