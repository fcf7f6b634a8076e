// CostModel: what messages, sums and copies cost on a machine, as six figures, and the segment that suits
// them; for ranks on several nodes four more. The algorithms' formulas (formulas.h) are functions of them.
#pragma once

#include "dist/collectives/segments.h"

namespace dist {

// The defaults are those of ranks that are processes of one host and talk through shared memory, in round
// figures of a server of the 2020s: they are for choosing before anybody has measured (cost_model_file.h,
// fit.h), and only their ratios matter for that.
struct CostModel {
  double alpha = 1.5e-6;     // s: the way of a message, from its sender's port to its receiver
  double beta = 2e-10;       // s/byte sent: 5 GB/s
  double gamma = 5e-11;      // s/byte of one operand reduced: 20 GB/s
  double overhead = 0.5e-6;  // s: o, for which a message holds its ports beside the time of its bytes
  double handshake = 4e-7;   // s: one synchronisation of ranks that share memory
  double copy = 5e-11;       // s/byte copied, or read or written through mapped memory: 20 GB/s
  double segment =
      default_segment_bytes;  // bytes (segments.h): their time is some ten times alpha + overhead

  // Where ranks are on several nodes, alpha, beta and overhead are those between nodes, and these within one:
  double near_alpha = 1.5e-6;
  double near_beta = 2e-10;
  double near_overhead = 0.5e-6;
  double cards = 1;  // network cards of a node: its ranks share them

  // Seconds that a message holds its ports; until it has arrived; of a sum.
  double port(double bytes) const { return overhead + beta * bytes; }
  double message(double bytes) const { return port(bytes) + alpha; }
  double sum(double bytes) const { return gamma * bytes; }

  friend bool operator==(const CostModel&, const CostModel&) = default;
};

// The same machine for ranks that are all as far from each other as those on different nodes.
inline constexpr CostModel all_far(CostModel model) {
  model.near_alpha = model.alpha;
  model.near_beta = model.beta;
  model.near_overhead = model.overhead;
  return model;
}

// Ranks that send over TCP, as on different machines with 10 Gb/s Ethernet (the figures of topology 10gbe).
inline constexpr CostModel tcp_costs() {
  CostModel model;
  model.alpha = 25e-6;
  model.beta = 8e-10;
  model.overhead = 5e-6;
  model.gamma = 1.5e-10;  // what comes through the kernel is in no cache any more
  model.segment = 512 * 1024;
  return model;
}

// The same machine for ranks that outnumber its cores: whoever is waited for may have to be scheduled first.
// That is a turn for each synchronisation, and two for a message: the receiver's, and the sender's again.
inline constexpr CostModel on_shared_cores(CostModel model) {
  constexpr double turn = 8e-6;  // s
  model.alpha += turn;
  model.overhead += turn;
  model.near_alpha += turn;
  model.near_overhead += turn;
  model.handshake += turn;
  return model;
}

// Before anybody has measured. `by_tcp`: for ranks whose messages go over TCP.
inline constexpr CostModel round_figures(bool by_tcp) { return by_tcp ? tcp_costs() : CostModel{}; }

// What choosing depends on besides the machine: how many ranks, on how many nodes, and whether each can map
// all others' memory (Transport::peer_view).
struct World {
  int ranks = 1;
  int nodes = 1;
  bool peers_mapped = false;
};

}  // namespace dist
