// What choosing an algorithm goes by on a simulated machine: its own figures, as calibrating would find them.
#pragma once

#include "dist/collectives/cost_model.h"
#include "dist/sim/topology.h"

namespace dist::sim {

int nodes_of(int ranks, const Topology& topology);

// Of `ranks` ranks, packed onto as few nodes as they need.
CostModel costs_of(const Topology& topology, int ranks);

}  // namespace dist::sim
