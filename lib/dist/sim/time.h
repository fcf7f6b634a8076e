// Virtual time: whole picoseconds, so that equal histories give equal times on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dist::sim {

using Time = std::int64_t;  // ps; 2^63 of them are 106 days

inline constexpr Time never = INT64_MAX;
// Where clocks end (23 days); no duration is longer, so two of them can be added.
inline constexpr Time end_of_time = 2'000'000'000'000'000'000;

inline Time from_seconds(double seconds) { return static_cast<Time>(std::llround(seconds * 1e12)); }
// From a duration in ps that is not negative, rounded; `end_of_time` for anything longer.
constexpr Time from_ps(double ps) {
  return ps < static_cast<double>(end_of_time) ? static_cast<Time>(ps + 0.5) : end_of_time;
}
// `duration` after `begin`, at most end_of_time.
constexpr Time later(Time begin, Time duration) { return std::min(begin + duration, end_of_time); }
constexpr double to_seconds(Time time) { return static_cast<double>(time) * 1e-12; }

}  // namespace dist::sim
