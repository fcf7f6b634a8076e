// Ten rows for four ranks: dealt by lab 06's solution, and in the two ways that it avoids. Also the bytes
// that eight ranks send in all for parts of four bytes.
#include <algorithm>

#include <dist/dist.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/simulate/simulate_collective.h"

#include "scatter_gather.h"

namespace {

std::uint64_t bytes_sent(dist::OpKind collective, const std::string& algorithm) {
  std::uint64_t bytes = 0;
  const auto cost =
      dist::sim::simulate_collective({collective, algorithm, 8, 32, {}, true}, dist::sim::Topology::rounds());
  for (const auto& link : cost.links) bytes += link.bytes;
  return bytes;
}

void deal() {
  constexpr int ranks = 4, rows = 10, up = (rows + ranks - 1) / ranks;
  std::array<std::int64_t, ranks> balanced{}, rest{}, rounded{};
  dist::sim::RunOptions options;
  options.ranks = ranks;
  dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    const auto mine = lab::scatter_rows(rank == 0 ? dist::ones({rows, 1}) : dist::Tensor(), 1, 0);
    const auto r = static_cast<std::size_t>(rank);
    balanced[r] = mine.shape()[0];
    rest[r] = rank + 1 < ranks ? rows / ranks : rows - rank * (rows / ranks);
    rounded[r] = std::clamp(rows - rank * up, 0, up);
  });
  fmt::print("balanced {}\nrest {}\nrounded {}\n", fmt::join(balanced, " "), fmt::join(rest, " "),
             fmt::join(rounded, " "));
}

}  // namespace

int main() {
  deal();
  fmt::print("sent {} {} {}\n", bytes_sent(dist::OpKind::scatter, "flat"),
             bytes_sent(dist::OpKind::scatter, "binomial"), bytes_sent(dist::OpKind::broadcast, "binomial"));
}
