// The clock of the simulator against formulas.
#include <gtest/gtest.h>

#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"

#include "unit/sim/simulate.h"

namespace dist::test {
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

// One receiver's port takes one message after the other, whoever sends them.
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

}  // namespace
}  // namespace dist::test
