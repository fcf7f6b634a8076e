// Words in host memory by which streams of several ranks synchronise. They have a file of their own, for the
// programs that probe a GPU (tests/gpu/probe).
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace dist {

// The word that streams write and wait for.
using StreamFlag = std::atomic<std::uint64_t>;

// Whether a wait for `value` is over. Compares as a GPU does, by the sign of the difference.
constexpr bool flag_has_reached(std::uint64_t flag, std::uint64_t value) {
  return static_cast<std::int64_t>(flag - value) >= 0;
}

// Ends every wait for a count; the largest unsigned word would compare as less than all counts.
constexpr std::uint64_t released_flag = std::numeric_limits<std::int64_t>::max();

}  // namespace dist
