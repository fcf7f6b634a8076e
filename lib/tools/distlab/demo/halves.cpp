// Scene 2: groups. Each half sums its ranks. Then all ranks learn both sums by a maximum, to which the other
// half contributes minus infinity (a zero would be larger than a negative sum).
#include <cstdio>
#include <limits>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "distlab/demo/demo.h"

namespace distlab::demo {

void sum_in_halves() {
  dist::spawn(ranks, [](int) {
    dist::init_process_group();
    const int rank = dist::get_rank();
    const auto low = dist::new_group({0, 1});  // every rank calls both, members or not
    const auto high = dist::new_group({2, 3});

    auto mine = dist::full({1}, rank);
    dist::all_reduce(mine, dist::ReduceOp::sum, {.group = rank < 2 ? low : high});

    auto sums = dist::full({2}, -std::numeric_limits<double>::infinity());
    sums[rank < 2 ? 0 : 1].fill_(mine.item<double>());
    dist::all_reduce(sums, dist::ReduceOp::max);

    const auto got = sums.to_vector<int>();
    if (got != std::vector{1, 5})
      dist::fail(dist::Errc::internal, "expected the sums 1 and 5, got {}", sums.str());
    if (rank == 0)
      fmt::print("   ranks 0 and 1 sum to {}; ranks 2 and 3 sum to {}; all four ranks know both sums\n",
                 got[0], got[1]);
    std::fflush(stdout);
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo
