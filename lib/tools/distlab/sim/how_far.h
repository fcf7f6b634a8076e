// How far a simulation is, while it runs.
#pragma once

#include "dist/simulate/simulate_collective.h"

namespace distlab {

// simulate_collective(); on a terminal a line says what is simulated and how long it will take. That is
// known for a ring, whose messages can be counted, and for large data, whose number of messages two small
// runs predict.
dist::sim::CollectiveCost simulate_and_say_how_far(const dist::sim::CollectiveRun& run,
                                                   const dist::sim::Topology& topology);

}  // namespace distlab
