#include "dist/sim/topology.h"

#include <algorithm>

namespace dist::sim {

Topology Topology::rounds() {
  Topology t;
  t.name = "rounds";
  t.about = "every message holds its two ports for one second; time counts rounds";
  t.overhead_s = 1;
  return t;
}

Topology Topology::uniform(double overhead_s, double latency_s, double seconds_per_byte, double gamma) {
  Topology t;
  t.name = "uniform";
  t.about = "one kind of link between all pairs";
  t.overhead_s = overhead_s;
  t.intra = {latency_s, seconds_per_byte > 0 ? 1 / seconds_per_byte : 0};
  t.reduce_seconds_per_byte = gamma;
  return t;
}

Cost Topology::cost_inside() const {
  return {from_seconds(overhead_s), from_seconds(intra.latency_s),
          intra.bandwidth > 0 ? 1e12 / intra.bandwidth : 0};
}

Cost Topology::cost_between() const {
  // A message that leaves the node first passes the GPU's own link: the slower of the two limits the
  // bandwidth.
  double bandwidth = inter.bandwidth;
  if (intra.bandwidth > 0) bandwidth = std::min(bandwidth, intra.bandwidth);
  return {from_seconds(overhead_s), from_seconds(inter.latency_s), bandwidth > 0 ? 1e12 / bandwidth : 0};
}

int Topology::nic_of(int rank) const {
  if (nics_per_node == 0 || gpus_per_node == 0) return -1;
  return node_of(rank) * nics_per_node + rank % gpus_per_node * nics_per_node / gpus_per_node;
}

}  // namespace dist::sim
