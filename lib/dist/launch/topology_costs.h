// What choosing an algorithm goes by on a simulated machine: its own figures, as calibrating would find them.
#pragma once

#include "dist/collectives/cost_model.h"
#include "dist/sim/topology.h"

namespace dist::sim {

int nodes_of(int ranks, const Topology& topology);

// Of the machine's slower links where `ranks` ranks use them: one figure for all messages is all that
// choose() knows.
CostModel costs_of(const Topology& topology, int ranks);

}  // namespace dist::sim
