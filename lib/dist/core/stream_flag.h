// Words in host memory by which streams of several ranks meet. Alone in a file, for the questions to a GPU
// (tests/gpu/probe).
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace dist {

// What streams write and wait for.
using StreamFlag = std::atomic<std::uint64_t>;

// A wait for `value` is over: as a GPU compares, the difference being signed.
constexpr bool flag_has_reached(std::uint64_t flag, std::uint64_t value) {
  return static_cast<std::int64_t>(flag - value) >= 0;
}

// Ends every wait for a count: the largest word would be less than all of them.
constexpr std::uint64_t released_flag = std::numeric_limits<std::int64_t>::max();

}  // namespace dist
