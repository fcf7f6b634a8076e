#include "dist/launch/topology_costs.h"

#include "dist/sim/time.h"

namespace dist::sim {

int nodes_of(int ranks, const Topology& topology) { return topology.node_of(ranks - 1) + 1; }

CostModel costs_of(const Topology& topology, int ranks) {
  const Cost cost = nodes_of(ranks, topology) > 1 ? topology.cost_between() : topology.cost_inside();
  CostModel model;
  model.overhead = to_seconds(cost.overhead);
  model.alpha = to_seconds(cost.latency);
  model.beta = cost.ps_per_byte * 1e-12;
  model.gamma = topology.reduce_seconds_per_byte;
  model.copy = 0;  // takes no time in simulations
  return model;
}

}  // namespace dist::sim
