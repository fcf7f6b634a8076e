#include "dist/simulate/topology_costs.h"

#include <algorithm>

#include "dist/sim/time.h"

namespace dist::sim {

int nodes_of(int ranks, const Topology& topology) { return topology.node_of(ranks - 1) + 1; }

CostModel costs_of(const Topology& topology, int ranks) {
  const Cost cost = nodes_of(ranks, topology) > 1 ? topology.cost_between() : topology.cost_inside();
  CostModel model;
  model.overhead = to_seconds(cost.overhead);
  model.alpha = to_seconds(cost.latency);
  model.beta = cost.ps_per_byte * 1e-12;
  const Cost inside = topology.cost_inside();
  model.near_overhead = to_seconds(inside.overhead);
  model.near_alpha = to_seconds(inside.latency);
  model.near_beta = inside.ps_per_byte * 1e-12;
  model.cards = topology.nics_per_node > 0 ? topology.nics_per_node : std::max(1, topology.gpus_per_node);
  model.gamma = topology.reduce_seconds_per_byte;
  model.copy = 0;  // takes no time in simulations
  return model;
}

}  // namespace dist::sim
