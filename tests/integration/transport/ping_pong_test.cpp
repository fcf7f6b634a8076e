// Latency and bandwidth between two processes. The figures are printed; only gross failures fail the test.
#include <sys/wait.h>

#include "integration/transport/processes.h"

namespace dist::test {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Half a round trip, the best of several batches.
double half_round_trip(Rank& me, TensorView view, int rounds, std::uint64_t tag) {
  auto net = me.open({.tag = tag});
  double best = 1e9;
  for (int batch = 0; batch < 10; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < rounds; ++i) {
      if (me.rank() == 0) {
        net->isend(view, 1).wait();
        net->irecv(view, 1).wait();
      } else {
        net->irecv(view, 0).wait();
        net->isend(view, 0).wait();
      }
    }
    best = std::min(best, microseconds_since(start) / rounds / 2);
  }
  return best;
}

class PingPong : public testing::TestWithParam<World> {};

TEST_P(PingPong, latency_and_bandwidth) {
  Processes ranks(GetParam(), [](Rank& me) {
    Message small(8, Memory::arena), large(64 << 20, Memory::arena), foreign(64 << 20, Memory::foreign);
    large.write(0, 1);
    foreign.write(0, 1);
    const bool is_tcp = me.endpoint().link_kind(1 - me.rank()) == "tcp";
    const double latency = half_round_trip(me, small.view(), is_tcp ? 500 : 5000, 1);
    const double page = half_round_trip(me, Message(4096, Memory::arena).view(), 500, 2);
    const double us = half_round_trip(me, large.view(), 1, 3);
    const double us_foreign = half_round_trip(me, foreign.view(), 1, 4);
    if (me.rank() == 0)
      std::fprintf(stderr,
                   "[ %8s ] 8 B: %.2f us, 4 KiB: %.2f us, 64 MiB: %.2f GB/s (arena), %.2f GB/s (foreign)\n",
                   me.endpoint().link_kind(1).c_str(), latency, page, 67108.864 / us, 67108.864 / us_foreign);
    return "";
  });
  expect_all_well(ranks.join(60s));
}

INSTANTIATE_TEST_SUITE_P(Links, PingPong, testing::Values(World{2, "auto"}, World{2, "tcp"}),
                         [](const auto& param_info) { return param_info.param.str(); });

}  // namespace
}  // namespace dist::test
