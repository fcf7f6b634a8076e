// Sizes in whole units: pages, cache lines, whatever things are to lie on.
#pragma once

#include <cstddef>

namespace dist {

// The least multiple of `unit` that is not less than `bytes`.
constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace dist
