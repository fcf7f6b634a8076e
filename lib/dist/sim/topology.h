// Topology: the figures of the machine that a simulation runs on. All nodes are equal; each has GPUs on a
// fast fabric (NVLink through NVSwitch, PCIe, or the memory of a laptop) and network cards on a non-blocking
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

// The cost of a message: it holds its ports for overhead + bytes * ps_per_byte, and it arrives `latency`
// later.
struct Cost {
  Time overhead = 0;       // o
  Time latency = 0;        // alpha
  double ps_per_byte = 0;  // beta, that of the slowest link crossed
  Time hold(std::uint64_t bytes) const {
    return overhead + from_ps(static_cast<double>(bytes) * ps_per_byte);
  }
};

class Topology {
 public:
  // Every message takes one unit of its ports and nothing else: time counts rounds (1 round = 1 s).
  static Topology rounds();
  // One link speed between all pairs: for checking formulas. gamma is in seconds per reduced byte.
  static Topology uniform(double overhead_s, double latency_s, double seconds_per_byte, double gamma = 0);

  Cost cost_inside() const;   // between two ranks of a node
  Cost cost_between() const;  // between two nodes
  int node_of(int rank) const { return gpus_per_node == 0 ? 0 : rank / gpus_per_node; }
  // The network card that a rank's traffic to other nodes uses, numbered over the whole machine; -1 for none.
  // The GPUs of a node are spread evenly over its cards.
  int nic_of(int rank) const;

  std::string name, about;
  int max_ranks = 0;      // 0: no limit
  int gpus_per_node = 0;  // 0: one node holds all
  int nics_per_node = 0;
  int switch_radix = 0;                // ports of a switch that can add (switch_tree.h); 0: there are none
  double overhead_s = 0;               // o, per message
  LinkFigures intra, inter;            // between GPUs of a node; through one network card
  double reduce_seconds_per_byte = 0;  // gamma: per byte of one operand
  double flops = 0;                    // operations per second of one GPU in matrix products; 0: unknown
};

}  // namespace dist::sim
