// What-ifs: the same program on the same machine, but one rank is slow, one link is slow, or one rank is
// lost.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dist/sim/time.h"
#include "dist/sim/topology.h"

namespace dist::sim {

// Everything that the rank itself does takes `factor` times as long: computing, reducing, and the overhead o
// of every message that it sends or receives (between two stragglers the slower one counts).
struct Straggler {
  int rank = 0;
  double factor = 1;
};

// A message between ranks a and b, in either direction, holds its ports and network cards `factor` times as
// long.
struct SlowLink {
  int a = 0, b = 1;
  double factor = 1;
};

// The rank vanishes at that virtual time, if it has not ended by then: it does nothing any more, and messages
// that have not arrived by then never will. As when a process dies on a real host, every pending and later
// operation of a group that contains it ends with Error{peer_failed}, which names it. What its stack holds is
// destroyed at the end of the simulation, by an exception out of the call in which it waits: a destructor
// that waits then ends the process (std::terminate), unless it is noexcept(false).
struct Loss {
  int rank = 0;
  double at_s = 0;
};

struct WhatIf {
  std::vector<Straggler> stragglers = {};
  std::vector<SlowLink> slow_links = {};
  std::vector<Loss> losses = {};

  bool empty() const { return stragglers.empty() && slow_links.empty() && losses.empty(); }
  // Throws Error{invalid_argument}, which names the first impossible value: a rank that does not exist or is
  // named twice, a factor that is not from 1 to 1,000,000, a link of a rank with itself, an invalid time.
  void check(int ranks) const;
};

// "3x2.5", "0-1x10", "2@100us" (ns, us, ms or s). Throw Error{invalid_argument}, which quotes an invalid
// text.
Straggler parse_straggler(std::string_view text);
SlowLink parse_slow_link(std::string_view text);
Loss parse_loss(std::string_view text);

// The slow ranks and links of a WhatIf, in a form for look-ups.
class Slowdowns {
 public:
  Slowdowns(const WhatIf& what_if, int ranks);

  double of(int rank) const { return ranks_.empty() ? 1 : ranks_[static_cast<std::size_t>(rank)]; }
  // How long a message holds its ports; used instead of cost.hold(bytes).
  Time hold(const Cost& cost, std::uint64_t bytes, int src, int dst) const;

 private:
  double link(int a, int b) const;
  std::vector<double> ranks_;                                  // [rank]; empty: no rank is slowed down
  std::vector<std::pair<std::pair<int, int>, double>> links_;  // sorted; the lower rank first
};

}  // namespace dist::sim
