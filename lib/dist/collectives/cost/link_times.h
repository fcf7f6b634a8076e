// LinkTimes: the seconds that messages take when many ranks send at once, where some stay on their node and
// the others share its network cards. The formulas (formulas.h) are made of them.
#pragma once

#include "dist/collectives/cost/cost_model.h"

namespace dist::formulas {

// Ranks are numbered node by node, with the same number on each. `bytes`: the size of one message. Unless
// something else is said, the result is the time until the last message has arrived.
class LinkTimes {
 public:
  LinkTimes(const CostModel& model, const World& at)
      : m_(model), n_(at.ranks), nodes_(at.nodes), per_node_((at.ranks + at.nodes - 1) / at.nodes) {}

  // Within a node: how long the port is held; how long until the message has arrived. With one node the
  // model's first figures hold for all messages.
  double near_port(double bytes) const;
  double near(double bytes) const;
  // Between nodes; `at_once`: how many ranks of each node send at the same time.
  double far(double bytes, double at_once = 1) const;

  // Every rank swaps messages with the rank whose number differs in the bit `distance`.
  double swap(int distance, double bytes) const;
  // The same in a binomial tree, where only one rank of a node sends far.
  double climb(int distance, double bytes) const { return stays(distance) ? near(bytes) : far(bytes); }
  // Every rank sends to the rank `distance` further on; all_shifts(): by 1, 2, ... n - 1, one after the
  // other.
  double shift(int distance, double bytes) const;
  double all_shifts(double bytes) const;
  // Rank 0 sends to all others, one after the other.
  double serve_all(double bytes) const;
  // The ranks beyond the highest power of two send to those below it.
  double fold(double bytes) const;
  // In each row of a grid with `columns` columns, every rank sends to its neighbour.
  double along_row(int columns, double bytes) const;
  // How many levels of a binary tree, in rank order, are between nodes.
  int far_levels() const;

 private:
  bool stays(int distance) const { return nodes_ == 1 || per_node_ % (2 * distance) == 0; }

  CostModel m_;
  int n_, nodes_, per_node_;
};

}  // namespace dist::formulas
