// Sizes in whole units: pages, cache lines or others.
#pragma once

#include <cstddef>

namespace dist {

// The smallest multiple of `unit` that is at least `bytes`.
constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace dist
