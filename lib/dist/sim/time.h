// Virtual time: whole picoseconds, so that equal histories give equal times on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace dist::sim {

using Time = std::int64_t;  // ps; 2^63 of them are 106 days

inline constexpr Time never = INT64_MAX;

inline Time from_seconds(double seconds) { return static_cast<Time>(std::llround(seconds * 1e12)); }
constexpr double to_seconds(Time time) { return static_cast<double>(time) * 1e-12; }

}  // namespace dist::sim
