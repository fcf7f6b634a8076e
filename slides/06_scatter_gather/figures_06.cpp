// Ten rows for four ranks: dealt by lab 06's solution, and in the two ways that it avoids.
#include <algorithm>

#include <dist/dist.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scatter_gather.h"

int main() {
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
