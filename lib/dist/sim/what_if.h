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

// All that the rank does itself takes `factor` times as long: what it computes and reduces, and the overhead
// o of every message it sends or receives (of two stragglers the slower one counts).
struct Straggler {
  int rank = 0;
  double factor = 1;
};

// A message between ranks a and b, either way, holds its ports and network cards `factor` times as long.
struct SlowLink {
  int a = 0, b = 1;
  double factor = 1;
};

// The rank vanishes at that virtual time, if it has not ended by then: it does nothing any more, and what has
// not arrived by then never will. As when a process dies on a real host, every pending and later operation of
// a group that contains it ends with Error{peer_failed} naming it. What its stack holds is destroyed at the
// end of the simulation, by an exception out of the call that it waits in: a destructor that waits then ends
// the process (std::terminate), unless it is noexcept(false).
struct Loss {
  int rank = 0;
  double at_s = 0;
};

struct WhatIf {
  std::vector<Straggler> stragglers = {};
  std::vector<SlowLink> slow_links = {};
  std::vector<Loss> losses = {};

  bool empty() const { return stragglers.empty() && slow_links.empty() && losses.empty(); }
  // Error{invalid_argument} names the first value that cannot be: a rank that does not exist or is named
  // twice, a factor that is not from 1 to 1,000,000, a link of a rank with itself, a time that is none.
  void check(int ranks) const;
};

// "3x2.5", "0-1x10", "2@100us" (ns, us, ms or s). Error{invalid_argument} quotes what is none.
Straggler parse_straggler(std::string_view text);
SlowLink parse_slow_link(std::string_view text);
Loss parse_loss(std::string_view text);

// The slow ranks and links of a WhatIf, ready to be looked up.
class Slowdowns {
 public:
  Slowdowns(const WhatIf& what_if, int ranks);

  double of(int rank) const { return ranks_.empty() ? 1 : ranks_[static_cast<std::size_t>(rank)]; }
  // How long a message holds its ports, instead of cost.hold(bytes).
  Time hold(const Cost& cost, std::uint64_t bytes, int src, int dst) const;

 private:
  double link(int a, int b) const;
  std::vector<double> ranks_;                                  // [rank]; empty: all are as fast as they can
  std::vector<std::pair<std::pair<int, int>, double>> links_;  // sorted; the lower rank first
};

}  // namespace dist::sim
