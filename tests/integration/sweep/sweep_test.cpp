// Every collective x {shm, tcp, plain} x ranks x sizes x dtypes x ops against the reference.
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/dist.h"

#include "integration/sweep/checks.h"

namespace dist::sweep {
namespace {

void sweep() {
  init_process_group({.timeout = std::chrono::seconds(60)});
  check_all({}, {0, 1, 2, 7, 1000, 65537});
  destroy_process_group();
}

using Param = std::tuple<const char*, Ranks, int>;

class Sweep : public testing::TestWithParam<Param> {};

TEST_P(Sweep, EveryCollectiveIsExact) {
  const auto [transport, as, n] = GetParam();
  ASSERT_EQ(setenv("DIST_TRANSPORT", transport, 1), 0);
  EXPECT_NO_THROW({
    try {
      spawn(
          n, [](int) { sweep(); }, as);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      throw;
    }
  });
}

// Sanitizers slow each rank down many times, so there are fewer ranks. Ranks are threads here for
// ThreadSanitizer, which cannot follow fork, and for the simulator, which runs this once more; the
// transports' own tests run ranks as threads.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
const auto world_sizes = testing::Values(1, 2, 3);
#else
const auto world_sizes = testing::Values(1, 2, 3, 4, 5, 8);
#endif

std::string cell_name(const testing::TestParamInfo<Param>& param) {
  const auto [transport, as, n] = param.param;
  return fmt::format("{}_{}_{}", transport, as == Ranks::processes ? "processes" : "threads", n);
}

#if defined(__SANITIZE_THREAD__)
INSTANTIATE_TEST_SUITE_P(Threads, Sweep,
                         testing::Combine(testing::Values("shm", "tcp", "plain"),
                                          testing::Values(Ranks::threads), world_sizes),
                         cell_name);
#else
INSTANTIATE_TEST_SUITE_P(Processes, Sweep,
                         testing::Combine(testing::Values("shm", "tcp", "plain"),
                                          testing::Values(Ranks::processes), world_sizes),
                         cell_name);
INSTANTIATE_TEST_SUITE_P(Threads, Sweep,
                         testing::Combine(testing::Values("shm"), testing::Values(Ranks::threads),
                                          testing::Values(1, 2, 3, 5)),
                         cell_name);
#endif

}  // namespace
}  // namespace dist::sweep
