// Every algorithm takes the virtual time that its header says, within 1 %. The larger ones:
// formula_full_test.cpp.
#include <algorithm>

#include <gtest/gtest.h>

#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"

#include "formulas.h"
#include "simulate.h"

namespace dist::test {
namespace {

class EveryFormula : public testing::TestWithParam<Formula> {};

TEST_P(EveryFormula, IsTheTimeOnTheClock) {
  const Formula& formula = GetParam();
  for (const int n : {2, 3, 4, 5, 8, 16, 33, 64, 100, 256, 1000, 1024, 4096}) {
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{10'000}, std::int64_t{1} << 20}) {
      if (n > (slow_build ? 64 : formula.quadratic ? 256 : 4096)) continue;
      if (n == 4096 && bytes != 10'000) continue;  // to save time
      expect_time(formula, n, bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryFormula, testing::ValuesIn(formulas()),
                         [](const auto& instance) { return instance.param.name(); });

TEST(Formulas, RingOnAThousandRanks) {
  if (slow_build) GTEST_SKIP() << "two million messages";
  expect_time(formula_of(OpKind::all_reduce, "ring"), 1024, 1 << 20);
}

// The in-order binary tree in one segment, without the cost of sums; tree.h has the result for powers of two.
double one_segment_tree(int n, double s) {
  const double hold = o + beta * s;
  std::vector<BinaryNode> nodes;
  for (int rank = 0; rank < n; ++rank) nodes.push_back(binary_node(rank, n));
  std::vector<double> up(nodes.size()), down(nodes.size());
  const auto at = [](auto& of, int rank) -> auto& { return of[static_cast<std::size_t>(rank)]; };
  std::vector<int> order(nodes.size());  // children after their parents
  for (int rank = 0; rank < n; ++rank) at(order, rank) = rank;
  std::ranges::stable_sort(order, {}, [&](int rank) { return at(nodes, rank).depth; });
  for (auto rank = order.rbegin(); rank != order.rend(); ++rank) {
    std::vector<double> ready;
    for (const int child : at(nodes, *rank).children) ready.push_back(at(up, child));
    std::ranges::sort(ready);  // the port serves first come, first served
    double port = 0;
    for (const double time : ready) port = std::max(port, time) + hold;
    if (!ready.empty()) at(up, *rank) = port + alpha;
  }
  at(down, 0) = at(up, 0);
  for (const int rank : order) {
    double port = at(down, rank);
    for (const int child : at(nodes, rank).children) at(down, child) = (port += hold) + alpha;
  }
  return *std::ranges::max_element(down);
}

TEST(Formulas, TreeOfOneSegment) {
  const AlgorithmEntry& tree = find_algorithm(OpKind::all_reduce, "tree");
  const auto without_sums = sim::Topology::uniform(o, alpha, beta, 0);
  for (const int n : {2, 3, 4, 5, 8, 16, 33, 64, 100, 256, 1000, 1024, 4096}) {
    if (slow_build && n > 64) continue;
    for (const std::int64_t bytes : {8, 10'000, 128 << 10}) {
      if (n == 4096 && bytes != 10'000) continue;  // to save time
      const auto s = static_cast<double>(bytes);
      const int depth = ceil_log2(n);
      const double expected = one_segment_tree(n, s);
      EXPECT_NEAR(simulated(tree, n, bytes, without_sums), expected, 0.01 * expected)
          << n << " ranks, " << bytes << " bytes";
      const double sum = (4 * depth - 2) * (o + beta * s) + 2 * depth * alpha;
      EXPECT_LE(expected, 1.0001 * sum) << n << " ranks";
      if (floor_pow2(n) == n) {
        EXPECT_NEAR(expected, sum, 0.0001 * sum) << n << " ranks";
        const double is = simulated(tree, n, bytes);
        EXPECT_GE(is, 0.9999 * (sum + depth * gamma * s)) << n << " ranks, " << bytes << " bytes";
        EXPECT_LE(is, 1.0001 * (sum + (2 * depth - 1) * gamma * s)) << n << " ranks, " << bytes << " bytes";
      }
    }
  }
}

// Once the segments are many: near 2 D alpha + 3 (m o + beta S) + 2 gamma S. Three of each segment pass a
// port of an inner rank, and its sums hide behind them in part.
TEST(Formulas, TreeOfManySegments) {
  const AlgorithmEntry& tree = find_algorithm(OpKind::all_reduce, "tree");
  for (const int n : {4, 16, 100, 1024}) {
    if (n > (slow_build ? 16 : 1024)) continue;
    const double s = 32 << 20, m = s / default_segment_bytes, ports = 3 * (m * o + beta * s);
    const double is = simulated(tree, n, 32 << 20);
    EXPECT_GE(is, ports) << n << " ranks";
    EXPECT_LE(is, 1.25 * (2 * ceil_log2(n) * alpha + ports + 2 * gamma * s)) << n << " ranks";
  }
}

// Once the segments are many, each pair of them takes four phases.
TEST(Formulas, DoubleBinaryTreeOfManySegments) {
  const Formula& formula = formula_of(OpKind::all_reduce, "double_binary_tree");
  const auto topology = sim::Topology::uniform(o, alpha, beta, gamma);
  const TensorView data{nullptr, (64 << 20) / 4, DType::f32, cpu};
  for (const int n : {4, 5, 6, 7, 16, 33, 100, 256}) {
    if (n > (slow_build ? 16 : 256)) continue;
    const double expected = formula.seconds(n, 64 << 20);
    const auto seconds = [&](SendMode mode) {
      return simulate(
          topology, n, [&](Transport& net) { double_binary_tree_all_reduce(net, data, ReduceOp::sum); },
          mode);
    };
    EXPECT_NEAR(seconds(SendMode::rendezvous), expected, 0.2 * expected) << n << " ranks";
    EXPECT_LE(seconds(SendMode::eager), 1.4 * expected) << n << " ranks";
    EXPECT_LE(seconds(SendMode::eager), simulated(find_algorithm(OpKind::all_reduce, "tree"), n, 64 << 20))
        << n << " ranks: the single tree";
  }
}

// Nodes of four ranks, all links alike.
TEST(Formulas, HierarchicalOnSeveralNodes) {
  const AlgorithmEntry& algorithm = find_algorithm(OpKind::all_reduce, "hierarchical");
  sim::Topology topology = sim::Topology::uniform(o, alpha, beta, gamma);
  topology.gpus_per_node = 4;
  topology.inter = topology.intra;
  CostModel alike = all_far(machine);
  alike.cards = 4;
  for (const int nodes : {1, 2, 3, 8}) {
    const int n = 4 * nodes;
    for (const std::int64_t bytes : {std::int64_t{10'000}, std::int64_t{1} << 20}) {
      const double expected =
          algorithm.seconds(alike, {.ranks = n, .nodes = nodes}, static_cast<double>(bytes));
      EXPECT_NEAR(simulated(algorithm, n, bytes, topology), expected, 0.01 * expected) << nodes << " nodes";
    }
  }
}

}  // namespace
}  // namespace dist::test
