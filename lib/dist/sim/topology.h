// Topology: the machine that a simulation runs on, as figures. Nodes of equal make, each with GPUs on a fast
// fabric (NVLink through NVSwitch, PCIe, or the memory of a laptop) and network cards to a non-blocking
// network.
#pragma once

#include <cstdint>
#include <string>

#include "dist/sim/time.h"

namespace dist::sim {

// One hop: a message of b bytes takes latency + b / bandwidth.
struct LinkFigures {
  double latency_s = 0;
  double bandwidth = 0;  // bytes/s, one direction
};

// What a message costs: its ports are held for overhead + bytes * ps_per_byte, and it arrives `latency`
// later.
struct Cost {
  Time overhead = 0;       // o
  Time latency = 0;        // alpha
  double ps_per_byte = 0;  // beta of the slowest link crossed
  Time hold(std::uint64_t bytes) const {
    return overhead + from_ps(static_cast<double>(bytes) * ps_per_byte);
  }
};

class Topology {
 public:
  // Every message takes one unit of its ports and nothing else: time counts rounds (1 round = 1 s).
  static Topology rounds();
  // One link speed between all pairs: for checking formulas. gamma: seconds a byte reduced.
  static Topology uniform(double overhead_s, double latency_s, double seconds_per_byte, double gamma = 0);

  Cost cost_inside() const;   // between two ranks of a node
  Cost cost_between() const;  // between two nodes
  int node_of(int rank) const { return gpus_per_node == 0 ? 0 : rank / gpus_per_node; }
  // The network card that a rank's traffic to other nodes takes, numbered over the whole machine; -1: none.
  // The GPUs of a node are spread evenly over its cards.
  int nic_of(int rank) const;

  std::string name, about;
  int max_ranks = 0;      // 0: as many as wanted
  int gpus_per_node = 0;  // 0: one node holds all
  int nics_per_node = 0;
  int switch_radix = 0;                // ports of a switch that can sum (switch_tree.h); 0: there is none
  double overhead_s = 0;               // o of every message
  LinkFigures intra, inter;            // between GPUs of a node; through the network, one network card
  double reduce_seconds_per_byte = 0;  // gamma: per byte of one operand
};

}  // namespace dist::sim
