// Reduction in the switches: the sums are right, and the time is that of the header.
#include "dist/sim/switch_tree.h"

#include <gtest/gtest.h>

#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "support/expect_error.h"
#include "unit/sim/simulate.h"

namespace dist::test {
namespace {

TEST(SwitchTree, LevelsOfAFatTree) {
  EXPECT_EQ(sim::switch_levels(1, 64), 0);
  EXPECT_EQ(sim::switch_levels(2, 64), 1);
  EXPECT_EQ(sim::switch_levels(64, 64), 1);
  EXPECT_EQ(sim::switch_levels(65, 64), 2);
  EXPECT_EQ(sim::switch_levels(2048, 64), 2);
  EXPECT_EQ(sim::switch_levels(2049, 64), 3);
  EXPECT_EQ(sim::switch_levels(65536, 64), 3);
  EXPECT_EQ(sim::switch_levels(4608, 36), 3);  // Summit
  EXPECT_EQ(sim::switch_levels(2, 2), 1);
  expect_error(Errc::invalid_argument, {"2 ports"}, [] { sim::switch_levels(3, 2); });
}

// The formula of switch_tree.h.
double formula(const sim::Topology& t, int ranks, std::int64_t bytes) {
  const double s = static_cast<double>(bytes), o = t.overhead_s;
  const int g = std::min(ranks, t.gpus_per_node), nodes = (ranks + t.gpus_per_node - 1) / t.gpus_per_node;
  const double beta_in = 1 / t.intra.bandwidth, beta_out = 1 / std::min(t.inter.bandwidth, t.intra.bandwidth);
  const double inside = (g - 1) * (o + beta_in * s) + t.intra.latency_s;
  double time = g > 1 ? 2 * inside + t.reduce_seconds_per_byte * s : 0;
  if (nodes > 1) {
    const double m = std::max(1., std::ceil(s / sim::switch_segment_bytes));
    const double first = std::min<double>(s, sim::switch_segment_bytes);
    time +=
        (m + 1) * o + beta_out * (s + first) + sim::switch_levels(nodes, t.switch_radix) * t.inter.latency_s;
  }
  return time;
}

TEST(SwitchTree, TakesTheTimeOfItsFormula) {
  for (const char* name : {"dgx-a100-hdr", "dgx-h100-ndr", "summit"}) {
    const auto topology = sim::load_topology(name);
    for (const int n : {1, 2, 3, 6, 8, 16, 33, 64, 100, 1000, 4096}) {
      for (const std::int64_t bytes : {0L, 8L, 128L << 10, 1000'000L, 64L << 20}) {
        if (n == 4096 && bytes != 1000'000) continue;  // to save time
        const auto cost = sim::simulate_collective({OpKind::all_reduce, "sharp", n, bytes}, topology);
        const double expected = formula(topology, n, bytes);
        EXPECT_NEAR(cost.virtual_time_s, expected, 0.01 * expected)
            << name << ", " << n << " ranks, " << bytes;
      }
    }
  }
}

// A rank sends its data once; the leader of a node also sends the node's sum once, and the result inside the
// node.
TEST(SwitchTree, MovesTheDataOnceThroughANetworkCard) {
  const auto cost = sim::simulate_collective({OpKind::all_reduce, "sharp", 16, 1 << 20},
                                             sim::load_topology("dgx-h100-ndr"));
  EXPECT_EQ(cost.messages, 14u + 2 * 8 + 2 * 8 + 14);  // up inside, 8 segments up and down on two nodes, down
  EXPECT_EQ(cost.max_bytes_sent_per_rank, (1u << 20) * 8);
}

class SwitchSums : public testing::TestWithParam<int> {};

TEST_P(SwitchSums, AreRightOnData) {
  const int n = GetParam();
  sim::Topology topology = sim::load_topology("summit");
  for (const std::int64_t count : {0, 1, 33, 50'000}) {
    sim::Scheduler scheduler(topology, n);
    sim::Fabric fabric(scheduler);
    sim::SwitchTree switches(scheduler);
    int right = 0;
    scheduler.run([&](int rank) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
        sim::SimTransport net(
            fabric,
            {.members = Members::everybody(n), .channel = {.tag = 1}, .label = {}, .mode = SendMode::eager},
            rank);
        Tensor data = full({count}, rank + 1, DType::i32);
        switches.all_reduce(net, data.flat(), op);
        right += equal(data, full({count}, op == ReduceOp::sum ? n * (n + 1) / 2 : n, DType::i32));
      }
    });
    EXPECT_EQ(right, 2 * n) << count << " elements";
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SwitchSums, testing::Values(1, 2, 5, 6, 7, 20, 100),
                         testing::PrintToStringParamName());

TEST(SwitchTree, NeedsSwitchesThatCanSum) {
  expect_error(Errc::invalid_argument, {"topology 10gbe", "switch_radix"}, [] {
    sim::simulate_collective({OpKind::all_reduce, "sharp", 4, 8}, sim::load_topology("10gbe"));
  });
  expect_error(Errc::invalid_argument, {"broadcast has no algorithm \"sharp\"", "binomial"}, [] {
    sim::simulate_collective({OpKind::broadcast, "sharp", 4, 8}, sim::load_topology("summit"));
  });
}

}  // namespace
}  // namespace dist::test
