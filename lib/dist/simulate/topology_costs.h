// The figures by which an algorithm is chosen on a simulated machine: its own, as calibration would find
// them.
#pragma once

#include "dist/collectives/cost/cost_model.h"
#include "dist/sim/topology.h"

namespace dist::sim {

int nodes_of(int ranks, const Topology& topology);

// For `ranks` ranks, packed onto as few nodes as they need.
CostModel costs_of(const Topology& topology, int ranks);

}  // namespace dist::sim
