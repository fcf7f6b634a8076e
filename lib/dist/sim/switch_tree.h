// Reduction inside the network: switches add what comes from below and pass on the sum, so that a rank sends
// its data once and receives the result once, whatever n is. (Graham et al., "Scalable Hierarchical
// Aggregation Protocol (SHARP): A Hardware Architecture for Efficient Data Reduction", COMHPC 2016; NCCL
// calls its use CollNet.) Only the simulator has such switches.
//
// The model. The first rank of each node is its leader. It sums the node's data, sends the sum up a tree of
// switches in segments of 128 KiB, receives the result and passes it on inside. Switches add at line speed
// and wait for everything that comes from below. With g ranks per node, N nodes, S bytes in m segments, the
// first of s bytes, and h levels of switches:
//   (g-1)(o + beta_in S) + alpha_in + gamma S         inside, to the leader; nothing when g = 1
//   (m+1) o + beta_out (S + s) + h alpha_out          up and down; nothing when N = 1
//   (g-1)(o + beta_in S) + alpha_in                   inside, from the leader; nothing when g = 1
// as long as gamma S <= o + beta_in S (the next message hides the sums). The network card moves all S bytes
// once out and once in, and a segment comes down while the next goes up. A hop, from host to switch or from
// switch to switch, takes alpha_out / 2; a message between two nodes makes two. h levels of switches with k
// ports (switch_radix of the topology) connect up to 2 (k/2)^h nodes, as a fat tree does (Al-Fares,
// Loukissas, Vahdat 2008).
#pragma once

#include <memory>

#include "dist/sim/scheduler.h"
#include "dist/transport/transport.h"

namespace dist::sim {

inline constexpr std::int64_t switch_segment_bytes = 128 * 1024;

// The fewest levels of switches with `radix` ports that connect `nodes` nodes; 0 for one node.
int switch_levels(int nodes, int radix);

// Throws Error{invalid_argument} if the topology has no switches that add.
void check_switches(const Topology& topology);

// The switches of the machine, for one all-reduce of all ranks at a time.
class SwitchTree {
 public:
  explicit SwitchTree(Scheduler& scheduler);
  ~SwitchTree();

  // Must be called by all ranks, each with a transport over all of them. In place; for views without memory,
  // only sizes count. Scratch: one buffer like `data` on each node's first rank.
  void all_reduce(Transport& net, TensorView data, ReduceOp op);

 private:
  struct Sums;
  void sum_in_switches(TensorView data, ReduceOp op);
  void refuse_lost(Time now) const;

  Scheduler& scheduler_;
  int nodes_ = 1, node_size_ = 1;
  Time way_ = 0;                // up through all levels, or down
  std::shared_ptr<Sums> sums_;  // the call in progress
};

}  // namespace dist::sim
