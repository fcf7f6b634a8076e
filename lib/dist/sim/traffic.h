// What the ranks of a simulation have moved.
#pragma once

#include <cstdint>

namespace dist::sim {

// What a rank has moved, for tests and reports.
struct RankTraffic {
  std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
};

// What one rank has sent to another.
struct LinkTraffic {
  int src, dst;  // beyond_a_switch: a sum in the switches (switch_tree.h)
  std::uint64_t messages = 0, bytes = 0;
};
inline constexpr int beyond_a_switch = -1;

}  // namespace dist::sim
