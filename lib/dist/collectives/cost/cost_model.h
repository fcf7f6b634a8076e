// CostModel: what messages, reductions and copies cost on a machine, as six figures, and the segment size
// that suits them; four more for ranks on several nodes. The algorithms' formulas (formulas.h) are functions
// of them.
#pragma once

#include "dist/collectives/segments.h"

namespace dist {

// The defaults are for ranks that are processes of one host and communicate through shared memory, in round
// figures for a server of the 2020s. They serve to choose algorithms before anything was measured
// (cost_model_file.h, fit.h), and for that only their ratios matter.
struct CostModel {
  double alpha = 1.5e-6;     // s: latency of a message, from its sender's port to its receiver
  double beta = 2e-10;       // s/byte sent: 5 GB/s
  double gamma = 5e-11;      // s/byte of one operand reduced: 20 GB/s
  double overhead = 0.5e-6;  // s: o, how long a message holds its ports besides the time of its bytes
  double handshake = 4e-7;   // s: one synchronisation of ranks that share memory
  double copy = 5e-11;       // s/byte copied, or read or written through mapped memory: 20 GB/s
  double segment =
      default_segment_bytes;  // bytes (segments.h): their time is about ten times alpha + overhead

  // Where ranks are on several nodes, alpha, beta and overhead hold between nodes, and these within one node:
  double near_alpha = 1.5e-6;
  double near_beta = 2e-10;
  double near_overhead = 0.5e-6;
  double cards = 1;  // network cards of a node: its ranks share them

  // In seconds: how long a message holds its ports; how long until it has arrived; how long a reduction
  // takes.
  double port(double bytes) const { return overhead + beta * bytes; }
  double message(double bytes) const { return port(bytes) + alpha; }
  double sum(double bytes) const { return gamma * bytes; }

  // Where ranks outnumber the cores, a rank that is waited for may have to be scheduled first: a turn.
  static constexpr double turn = 8e-6;  // s
  bool shares_cores() const { return handshake >= turn; }

  friend bool operator==(const CostModel&, const CostModel&) = default;
};

// The same machine, for ranks that are all as far from each other as those on different nodes.
inline constexpr CostModel all_far(CostModel model) {
  model.near_alpha = model.alpha;
  model.near_beta = model.beta;
  model.near_overhead = model.overhead;
  return model;
}

// For ranks that send over TCP, as on different machines with 10 Gb/s Ethernet (the figures of topology
// 10gbe).
inline constexpr CostModel tcp_costs() {
  CostModel model;
  model.alpha = 25e-6;
  model.beta = 8e-10;
  model.overhead = 5e-6;
  model.gamma = 1.5e-10;  // data that comes through the kernel is not in a cache
  model.segment = 512 * 1024;
  return model;
}

// The same machine for ranks that outnumber its cores: each synchronisation takes one turn more, and a
// message two, the receiver's and then the sender's.
inline constexpr CostModel on_shared_cores(CostModel model) {
  constexpr double turn = CostModel::turn;
  model.alpha += turn;
  model.overhead += turn;
  model.near_alpha += turn;
  model.near_overhead += turn;
  model.handshake += turn;
  return model;
}

// The figures to use before anything was measured. `by_tcp`: for ranks whose messages go over TCP.
inline constexpr CostModel round_figures(bool by_tcp) { return by_tcp ? tcp_costs() : CostModel{}; }

// What the choice depends on besides the machine: how many ranks, on how many nodes, and whether each can map
// the memory of all others.
struct World {
  int ranks = 1;
  int nodes = 1;
  bool peers_mapped = false;
};

}  // namespace dist
