#include "dist/collectives/cost/link_times.h"

#include <algorithm>

#include "dist/collectives/trees.h"

namespace dist::formulas {

double LinkTimes::near_port(double bytes) const {
  return nodes_ == 1 ? m_.port(bytes) : m_.near_overhead + m_.near_beta * bytes;
}

double LinkTimes::near(double bytes) const {
  return near_port(bytes) + (nodes_ == 1 ? m_.alpha : m_.near_alpha);
}

double LinkTimes::far(double bytes, double at_once) const {
  const double sharing = std::max(1., std::min<double>(at_once, per_node_) / std::max(1., m_.cards));
  return m_.message(0) + m_.beta * bytes * sharing;
}

// Where the partners of one node's ranks are on several nodes, each message waits for two cards, and
// therefore all messages form a single queue.
double LinkTimes::swap(int distance, double bytes) const {
  if (stays(distance)) return near(bytes);
  const bool is_one_queue =
      floor_pow2(per_node_) != per_node_ && std::min(distance, per_node_) > std::max(1., m_.cards);
  return is_one_queue ? m_.message(0) + m_.beta * bytes * n_ / 2 : far(bytes, distance);
}

double LinkTimes::shift(int distance, double bytes) const {
  if (nodes_ == 1) return near(bytes);
  const int sending_far = std::min({distance, n_ - distance, per_node_});
  const bool is_one_queue =
      distance > per_node_ && distance % per_node_ != 0 && sending_far > std::max(1., m_.cards);
  return is_one_queue ? m_.message(0) + m_.beta * bytes * n_ / 2
                      : far(bytes, std::min(distance, n_ - distance));
}

// With shifts by fewer than a node's ranks, in either direction, as many of them send far; with larger ones,
// all do.
double LinkTimes::all_shifts(double bytes) const {
  if (nodes_ == 1) return (n_ - 1) * near(bytes);
  const int few = std::min(per_node_, (n_ + 1) / 2) - 1;
  const double cards = std::max(1., m_.cards), alone = std::min<double>(few, cards);
  const double turns = alone + (few - alone) * (few + alone + 1) / 2 / cards;
  return 2 * (few * m_.message(0) + m_.beta * bytes * turns) + (n_ - 1 - 2 * few) * far(bytes, n_);
}

double LinkTimes::serve_all(double bytes) const {
  return (per_node_ - 1) * near_port(bytes) + (n_ - per_node_) * m_.port(bytes) + m_.alpha;
}

double LinkTimes::fold(double bytes) const {
  return nodes_ == 1 ? near(bytes) : far(bytes, n_ - floor_pow2(n_));
}

double LinkTimes::along_row(int columns, double bytes) const {
  return nodes_ == 1 || per_node_ % columns == 0 ? near(bytes) : far(bytes);
}

int LinkTimes::far_levels() const { return nodes_ == 1 ? 0 : ceil_log2(nodes_); }

}  // namespace dist::formulas
