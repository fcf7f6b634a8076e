// The clock of the simulator against formulas.
#include <cmath>

#include <gtest/gtest.h>

#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"
#include "dist/core/tasking.h"
#include "dist/simulate/simulate.h"

#include "support/expect_error.h"
#include "unit/sim/simulate.h"

namespace dist::test::virtual_time {
namespace {

constexpr double alpha = 2e-6, beta = 1e-9;  // s, s/byte

using AllReduce = void (*)(Transport&, TensorView, ReduceOp);

double seconds_of(AllReduce algorithm, const sim::Topology& topology, int n, std::int64_t count) {
  return simulate(topology, n, [&](Transport& net) {
    Tensor data = full({count}, net.rank() + 1, DType::i64);
    algorithm(net, data.flat(), ReduceOp::sum);
    const std::int64_t sum = std::int64_t{n} * (n + 1) / 2;
    if (!equal(data, full({count}, static_cast<double>(sum), DType::i64)))
      throw std::runtime_error("wrong sum");
  });
}

// 2 (n - 1) steps of S / n bytes.
TEST(VirtualTime, RingAllReduce) {
  for (const int n : {2, 3, 8, 64, 257}) {
    const std::int64_t count = std::int64_t{n} * 125;  // 1000 bytes a chunk
    const double expected = 2 * (n - 1) * (alpha + 1000 * beta);
    EXPECT_NEAR(seconds_of(ring_all_reduce, sim::Topology::uniform(0, alpha, beta), n, count), expected, 1e-9)
        << n << " ranks";
  }
}

// log2 n steps of S bytes.
TEST(VirtualTime, RecursiveDoublingAllReduce) {
  for (int steps = 1; steps <= 10; ++steps) {
    const double expected = steps * (alpha + 800 * beta);
    EXPECT_NEAR(
        seconds_of(recursive_doubling_all_reduce, sim::Topology::uniform(0, alpha, beta), 1 << steps, 100),
        expected, 1e-9)
        << (1 << steps) << " ranks";
  }
}

// One receiver's port takes one message after the other, whichever ranks send them.
TEST(VirtualTime, APortIsSharedInTurn) {
  const int n = 9;
  const double took = simulate(sim::Topology::uniform(0, alpha, beta), n, [](Transport& net) {
    Tensor data = zeros({1000}, DType::u8);
    if (net.rank() > 0) return net.isend(data.flat(), 0).wait(), void();
    for (int peer = 1; peer < net.size(); ++peer) net.irecv(data.flat(), peer).wait();
  });
  EXPECT_NEAR(took, (n - 1) * 1000 * beta + alpha, 1e-9);
}

TEST(VirtualTime, ComputingTakesTimeAndNoneOfTheOthers) {
  sim::Scheduler scheduler(sim::Topology::rounds(), 4);
  scheduler.run([&](int rank) {
    scheduler.compute(sim::from_seconds(rank));
    EXPECT_EQ(scheduler.clock(), sim::from_seconds(rank));
  });
  EXPECT_EQ(scheduler.finish_time(), sim::from_seconds(3));
}

// The error of the program on the only simulated rank, and the clock of the report.
sim::Report alone(const std::function<void()>& program, const std::string& topology = "laptop") {
  sim::RunOptions options;
  options.ranks = 1;
  options.topology = topology;
  return sim::run(options, [&](int) { program(); });
}

TEST(VirtualTime, TakesNoTimeThatIsNone) {
  for (const double seconds : {-100.0, std::nan(""), 1.1e6, HUGE_VAL}) {
    const auto report = alone([&] {
      EXPECT_DIST_ERROR(sim::compute(seconds), Errc::invalid_argument, "seconds must be between 0 and");
      sim::compute(5);
    });
    EXPECT_EQ(report.virtual_time_s, 5) << seconds;
  }
}

TEST(VirtualTime, EndsAndIsNotTurnedBack) {
  const auto report = alone([] {
    sim::compute(1e6);
    sim::compute(1e6);
    for (int i = 0; i < 20; ++i)
      EXPECT_DIST_ERROR(sim::compute(1e6), Errc::invalid_argument,
                        "rank 0: its virtual clock ends after 2000000 s");
  });
  EXPECT_EQ(report.virtual_time_s, 2e6);
}

TEST(VirtualTime, CannotBeSleptAway) {
  const auto report = alone([] {
    sleep(std::chrono::seconds(1));
    sleep(std::chrono::nanoseconds::min());
    EXPECT_DIST_ERROR(sleep(std::chrono::nanoseconds::max()), Errc::invalid_argument, "virtual clock ends");
    EXPECT_DIST_ERROR(sleep(std::chrono::hours(24 * 30)), Errc::invalid_argument, "virtual clock ends");
  });
  EXPECT_EQ(report.virtual_time_s, 1);
}

TEST(VirtualTime, OfHugeDataIsBounded) {
  constexpr auto huge = std::size_t{1} << 62;
  const auto slow = R"({"intra": {"latency_us": 1, "bandwidth_gb_s": 1e-6}, "reduce_gb_s": 1e-6})";
  alone(
      [] {
        sim::compute(1);
        EXPECT_DIST_ERROR(Tasking::current()->reduced(nullptr, nullptr, huge), Errc::invalid_argument,
                          "virtual clock ends");
      },
      slow);
  const sim::Cost cost{.ps_per_byte = 1e9};
  EXPECT_EQ(cost.hold(huge), sim::end_of_time);
  const sim::Slowdowns slowdowns({.slow_links = {{0, 1, 1e6}}}, 2);
  EXPECT_EQ(slowdowns.hold(cost, huge, 0, 1), sim::end_of_time);
}

}  // namespace
}  // namespace dist::test::virtual_time
