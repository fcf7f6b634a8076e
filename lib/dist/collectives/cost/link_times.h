// LinkTimes: the seconds that messages take which many ranks send at once, where some stay on their node and
// the others share its network cards. The formulas (formulas.h) are made of them.
#pragma once

#include "dist/collectives/cost/cost_model.h"

namespace dist::formulas {

// Ranks are numbered node by node, with equally many on each. `bytes`: of one message. Where nothing else is
// said the result is the time until the last of them has arrived.
class LinkTimes {
 public:
  LinkTimes(const CostModel& model, const World& at)
      : m_(model), n_(at.ranks), nodes_(at.nodes), per_node_((at.ranks + at.nodes - 1) / at.nodes) {}

  // Within a node: the port's time; the whole way. With one node alone the figures of all messages are the
  // model's first.
  double near_port(double bytes) const;
  double near(double bytes) const;
  // Between nodes; `at_once` ranks of each node send.
  double far(double bytes, double at_once = 1) const;

  // Every rank and the one whose number differs in the bit `distance` swap messages.
  double swap(int distance, double bytes) const;
  // The same in a binomial tree: one rank of a node alone sends far.
  double climb(int distance, double bytes) const { return stays(distance) ? near(bytes) : far(bytes); }
  // Every rank sends to the one `distance` further on; by 1, 2, ... n - 1 after each other.
  double shift(int distance, double bytes) const;
  double all_shifts(double bytes) const;
  // Rank 0 sends to all others, one after the other.
  double serve_all(double bytes) const;
  // The ranks beyond the highest power of two send to those before it.
  double fold(double bytes) const;
  // In each row of a grid with so many columns every rank sends to its neighbour.
  double along_row(int columns, double bytes) const;
  // How many levels of a binary tree in the order of ranks are between nodes.
  int far_levels() const;

 private:
  bool stays(int distance) const { return nodes_ == 1 || per_node_ % (2 * distance) == 0; }

  CostModel m_;
  int n_, nodes_, per_node_;
};

}  // namespace dist::formulas
