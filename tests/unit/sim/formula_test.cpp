// Every algorithm takes the virtual time that its header says, within 1 %.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/segments.h"
#include "dist/collectives/trees.h"
#include "dist/core/sanitizer.h"
#include "dist/launch/simulate_collective.h"
#include "dist/sim/topology_file.h"

namespace dist::test {
namespace {

// Seconds; a sum hides behind the next message (gamma < beta).
constexpr double o = 1e-6, alpha = 2e-6, beta = 1e-10, gamma = 0.6e-10;

struct Case {
  OpKind collective;
  std::string algorithm;
  double (*seconds)(int n, double bytes);
  bool quadratic = false;    // n^2 messages
  bool powers_only = false;  // exact for powers of two; for other n at most that
};

double log2_of(int n) { return ceil_log2(n); }
// The largest share of n.
double share(int n, double bytes) { return std::ceil(bytes / 4 / n) * 4; }

// For other n than powers of two, at most.
double recursive_doubling(int n, double s) {
  const double rounds = ceil_log2(floor_pow2(n));
  if (floor_pow2(n) == n) return rounds * (o + alpha + beta * s + gamma * s);
  return (rounds + 3) * (o + beta * s) + (rounds + 2) * alpha + (rounds + 1) * gamma * s;
}

double chain(int n, double bytes) {
  const double segment = std::min<double>(bytes, default_segment_bytes);
  const double m = std::max(1., std::ceil(bytes / default_segment_bytes));
  return (n - 1) * (o + alpha + beta * segment) + (m - 1) * o + beta * (bytes - segment);
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
    std::ranges::sort(ready);  // the port serves who comes first
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

// Messages one after the other, each of S bytes, on ceil(log2 n) levels.
double levels(int n, double s, double sums) { return log2_of(n) * (o + alpha + beta * s + sums * gamma * s); }

const std::vector<Case> cases{
    {OpKind::broadcast, "flat", [](int n, double s) { return (n - 1) * (o + beta * s) + alpha; }},
    {OpKind::broadcast, "binomial", [](int n, double s) { return levels(n, s, 0); }, false, true},
    {OpKind::broadcast, "chain", chain},
    {OpKind::reduce, "flat", [](int n, double s) { return (n - 1) * (o + beta * s) + alpha + gamma * s; }},
    {OpKind::reduce, "binomial", [](int n, double s) { return levels(n, s, 1); }, false, true},
    {OpKind::all_reduce, "recursive_doubling", recursive_doubling, false, true},
    {OpKind::all_reduce, "ring",
     [](int n, double s) {
       return 2 * (n - 1) * (o + alpha + beta * share(n, s)) + (n - 1) * gamma * share(n, s);
     },
     true},
    {OpKind::all_reduce, "reduce_broadcast",
     [](int n, double s) { return levels(n, s, 1) + levels(n, s, 0); }, false, true},
    {OpKind::scatter, "flat", [](int n, double s) { return (n - 1) * (o + beta * share(n, s)) + alpha; }},
    {OpKind::gather, "flat", [](int n, double s) { return (n - 1) * (o + beta * share(n, s)) + alpha; }},
    {OpKind::scatter, "binomial",
     [](int n, double s) { return log2_of(n) * (o + alpha) + (n - 1) * beta * s / n; }, false, true},
    {OpKind::gather, "binomial",
     [](int n, double s) { return log2_of(n) * (o + alpha) + (n - 1) * beta * s / n; }, false, true},
    {OpKind::all_gather, "ring", [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); },
     true},
    {OpKind::all_gather, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); }, true},
    {OpKind::reduce_scatter, "ring",
     [](int n, double s) { return (n - 1) * (o + alpha + (beta + gamma) * share(n, s)); }, true},
    {OpKind::reduce_scatter, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + (beta + gamma) * share(n, s)); }, true},
    {OpKind::all_to_all, "pairwise",
     [](int n, double s) { return (n - 1) * (o + alpha + beta * share(n, s)); }, true},
    {OpKind::barrier, "dissemination", [](int n, double) { return log2_of(n) * (o + alpha); }},
};

double simulated(const Case& c, int n, std::int64_t bytes, double sums = gamma) {
  return sim::simulate_collective({c.collective, c.algorithm, n, bytes},
                                  sim::Topology::uniform(o, alpha, beta, sums))
      .virtual_time_s;
}

constexpr bool slow_build = built_with_asan || built_with_tsan;

class Formula : public testing::TestWithParam<Case> {};

TEST_P(Formula, IsTheTimeOnTheClock) {
  const Case& c = GetParam();
  for (const int n : {2, 3, 4, 5, 8, 16, 33, 64, 100, 256, 1000, 1024, 4096}) {
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{10'000}, std::int64_t{1} << 20}) {
      const bool equal_shares = c.collective == OpKind::scatter || c.collective == OpKind::gather ||
                                c.collective == OpKind::all_to_all;
      const std::int64_t whole = equal_shares ? (bytes + 4 * n - 1) / (4 * n) * 4 * n : bytes;
      if (n > (slow_build ? 64 : c.quadratic ? 256 : 4096)) continue;
      if (n == 4096 && bytes != 10'000) continue;  // to save time
      const double expected = c.seconds(n, static_cast<double>(whole)), is = simulated(c, n, whole);
      const bool exact = !c.powers_only || floor_pow2(n) == n;
      EXPECT_LE(is, 1.01 * expected) << n << " ranks, " << whole << " bytes";
      if (exact) {
        EXPECT_GE(is, 0.99 * expected) << n << " ranks, " << whole << " bytes";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Formula, testing::ValuesIn(cases), [](const auto& instance) {
  return std::string(name(instance.param.collective)) + "_" + instance.param.algorithm;
});

TEST(Formulas, AreThereForAllAlgorithmsButTheTreeAndTheSwitches) {
  for (int i = 0; i <= static_cast<int>(OpKind::barrier); ++i) {
    const auto kind = static_cast<OpKind>(i);
    for (const auto& algorithm : sim::simulated_algorithms(kind, sim::load_topology("summit"))) {
      const bool here = std::ranges::any_of(
          cases, [&](const Case& c) { return c.collective == kind && c.algorithm == algorithm; });
      EXPECT_TRUE(here || algorithm == "tree" || algorithm == sim::in_switches)
          << name(kind) << " " << algorithm;
    }
  }
}

TEST(Formulas, RingOnAThousandRanks) {
  if (slow_build) GTEST_SKIP() << "two million messages";
  const auto ring = std::ranges::find_if(
      cases, [](const Case& c) { return c.collective == OpKind::all_reduce && c.algorithm == "ring"; });
  const double expected = ring->seconds(1024, 1 << 20);
  EXPECT_NEAR(simulated(*ring, 1024, 1 << 20), expected, 0.01 * expected);
}

TEST(Formulas, TreeOfOneSegment) {
  const Case tree{OpKind::all_reduce, "tree", one_segment_tree};
  for (const int n : {2, 3, 4, 5, 8, 16, 33, 64, 100, 256, 1000, 1024, 4096}) {
    if (slow_build && n > 64) continue;
    for (const std::int64_t bytes : {8, 10'000, 128 << 10}) {
      if (n == 4096 && bytes != 10'000) continue;  // to save time
      const auto s = static_cast<double>(bytes);
      const int depth = ceil_log2(n);
      const double expected = one_segment_tree(n, s);
      EXPECT_NEAR(simulated(tree, n, bytes, 0), expected, 0.01 * expected)
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
  const Case tree{OpKind::all_reduce, "tree", nullptr};
  for (const int n : {4, 16, 100, 1024}) {
    if (n > (slow_build ? 16 : 1024)) continue;
    const double s = 32 << 20, m = s / default_segment_bytes, ports = 3 * (m * o + beta * s);
    const double is = simulated(tree, n, 32 << 20);
    EXPECT_GE(is, ports) << n << " ranks";
    EXPECT_LE(is, 1.25 * (2 * ceil_log2(n) * alpha + ports + 2 * gamma * s)) << n << " ranks";
  }
}

}  // namespace
}  // namespace dist::test
