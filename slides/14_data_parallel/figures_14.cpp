// What goes in and out of the busiest port when 64 ranks average 4 GB.
#include <algorithm>

#include <fmt/format.h>

#include "dist/simulate/simulate_collective.h"

int main() {
  constexpr int ranks = 64;
  for (const std::string algorithm : {"parameter_server", "ring"}) {
    const auto cost = dist::sim::simulate_collective(
        {.algorithm = algorithm, .ranks = ranks, .bytes = 4'000'000'000, .links = true},
        dist::sim::Topology::rounds());
    std::vector<double> out(ranks), in(ranks);  // GB
    for (const auto& link : cost.links) {
      out[static_cast<std::size_t>(link.src)] += static_cast<double>(link.bytes) / 1e9;
      in[static_cast<std::size_t>(link.dst)] += static_cast<double>(link.bytes) / 1e9;
    }
    fmt::print("{} {:.3g} {:.3g}\n", algorithm, std::ranges::max(out), std::ranges::max(in));
  }
}
