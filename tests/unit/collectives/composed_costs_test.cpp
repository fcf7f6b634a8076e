// The formulas of the all-reduce algorithms that are made of others, counted: rounds, messages, bytes and
// scratch.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"
#include "dist/collectives/baselines.h"
#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/hierarchical.h"
#include "dist/collectives/rabenseifner.h"
#include "dist/collectives/ring_2d.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/scatter_all_gather.h"
#include "dist/collectives/trees.h"

#include "costs.h"

namespace dist::test {
namespace {

TEST(DoubleBinaryTreeCost, BothTreesCarryTheirHalfOnceEachWay) {
  for (int n : all_n) {
    for (std::int64_t segment_bytes : {std::int64_t{200}, std::int64_t{1} << 20}) {
      const int m = segment_bytes == 200 ? 10 : 1;
      const FiberReport report = run(n, [&](Transport& net, TensorView data) {
        double_binary_tree_all_reduce(net, data, ReduceOp::sum, segment_bytes);
      });
      EXPECT_EQ(total_messages(report), 4 * (n - 1) * m) << "n " << n;
      for (int r = 0; r < n; ++r) {
        std::int64_t links = 0, children = 0;
        for (const BinaryNode& node : {binary_node(r, n), second_binary_node(r, n)}) {
          children += static_cast<std::int64_t>(node.children.size());
          links += static_cast<std::int64_t>(node.children.size()) + (node.parent == no_rank ? 0 : 1);
        }
        EXPECT_EQ(report.ranks[r].messages_sent, links * m);
        EXPECT_EQ(report.ranks[r].bytes_sent, links * bytes / 2);
        EXPECT_EQ(report.ranks[r].bytes_received, links * bytes / 2);
        EXPECT_LE(report.ranks[r].bytes_sent, 2 * bytes) << "a single tree: 3";
        EXPECT_EQ(report.ranks[r].peak_scratch_bytes, children * std::min(segment_bytes, bytes / 2));
      }
    }
  }
}

TEST(SegmentedCost, IsOfTheSegmentsThatTheCallAsksFor) {
  struct Case {
    OpKind kind;
    const char* name;
    int parts;  // that cut their data into segments themselves
  };
  constexpr int n = 4;
  for (const Case& c :
       {Case{OpKind::broadcast, "chain", 1}, Case{OpKind::all_reduce, "ring_segmented", n},
        Case{OpKind::all_reduce, "tree", 1}, Case{OpKind::all_reduce, "double_binary_tree", 2}}) {
    const auto messages = [&](std::int64_t segment_bytes) {
      return total_messages(run(n, [&](Transport& net, TensorView data) {
        CollectiveArgs args;
        args.out = data;
        args.segment_bytes = segment_bytes;
        find_algorithm(c.kind, c.name).run(net, args);
      }));
    };
    EXPECT_EQ(messages(100), messages(bytes) * (bytes / c.parts / 100)) << c.name;
  }
}

TEST(DoubleBinaryTreeCost, LatencyGrowsWithTheLogarithm) {
  for (int n = 2; n <= 130; ++n) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { double_binary_tree_all_reduce(net, data, ReduceOp::sum); },
        4);
    EXPECT_LE(report.rounds, 4 * ceil_log2(n) + 4) << "n " << n;
  }
}

// Four messages of each pair of segments pass a port. A single tree takes three for each segment: six.
TEST(DoubleBinaryTreeCost, FourRoundsForEachPairOfSegments) {
  constexpr int m = 200;
  for (int n : {4, 5, 7, 8, 16, 17, 33, 64, 100, 128}) {
    for (SendMode mode : {SendMode::rendezvous, SendMode::eager}) {
      const FiberReport report =
          run_fibers(n,
                     [](Transport& net) {
                       Tensor data = ones({2 * m});
                       double_binary_tree_all_reduce(net, data.flat(), ReduceOp::sum, 4);
                     },
                     {.mode = mode});
      const int each = mode == SendMode::rendezvous ? 4 : 7;  // eager senders get ahead of the phases
      EXPECT_LE(report.rounds, each * m + 8 * ceil_log2(n))
          << "n " << n << (mode == SendMode::eager ? " eager" : "");
    }
  }
}

TEST(RabenseifnerCost, TheBytesOfTheRingInTheRoundsOfTheTree) {
  for (int n : all_n) {
    const FiberReport report =
        run(n, [](Transport& net, TensorView data) { rabenseifner_all_reduce(net, data, ReduceOp::sum); });
    const int p = floor_pow2(n), rounds = 2 * ceil_log2(p);
    EXPECT_EQ(report.rounds, p == n ? rounds : rounds + 2) << "n " << n;
    for (int r = 0; r < n; ++r) {
      const bool beyond = r >= p, has_partner = r + p < n;
      const RankTraffic& rank = report.ranks[r];
      EXPECT_EQ(rank.messages_sent, beyond ? 1 : rounds + (has_partner ? 1 : 0));
      if (beyond) {
        EXPECT_EQ(rank.bytes_sent, bytes);
      } else {  // in each phase all but one of p blocks, apart from the rounding of the blocks
        EXPECT_NEAR(rank.bytes_sent - (has_partner ? bytes : 0), 2 * (bytes - bytes / p), 8 * rounds);
      }
      EXPECT_EQ(rank.peak_scratch_bytes, n == 1 || beyond ? 0 : has_partner ? bytes : bytes / 2);
    }
  }
}

TEST(RabenseifnerCost, ReduceGathersAtTheRoot) {
  for (int n : all_n) {
    for (int root : {0, n / 2, n - 1}) {
      const FiberReport report = run(
          n, [&](Transport& net, TensorView data) { rabenseifner_reduce(net, data, ReduceOp::sum, root); });
      const int p = floor_pow2(n), levels = ceil_log2(p);
      EXPECT_EQ(report.rounds, p == n ? 2 * levels : 2 * levels + 1) << "n " << n << " root " << root;
      EXPECT_EQ(report.ranks[root].messages_sent, levels) << "it only receives in the second phase";
      for (int r = 0; r < n; ++r) {
        const bool beyond = mod(r - root, n) >= p;
        if (r == root) continue;
        EXPECT_EQ(report.ranks[r].messages_sent, beyond ? 1 : levels + 1) << "n " << n << " rank " << r;
      }
    }
  }
}

TEST(Ring2dCost, RowsThenColumns) {
  const std::vector<std::pair<int, int>> grids{{1, 1}, {2, 1}, {7, 1},  {4, 2},
                                               {6, 2}, {9, 3}, {12, 3}, {33, 3}};
  for (const auto& [n, rows] : grids) {
    EXPECT_EQ(rows_of_grid(n), rows) << "n " << n;
    const int columns = n / rows, messages = 2 * (columns - 1) + 2 * (rows - 1);
    const FiberReport report =
        run(n, [](Transport& net, TensorView data) { ring_2d_all_reduce(net, data, ReduceOp::sum); });
    EXPECT_EQ(report.rounds, messages) << "n " << n;
    for (const RankTraffic& rank : report.ranks) {
      EXPECT_EQ(rank.messages_sent, messages);
      EXPECT_NEAR(rank.bytes_sent, 2. * (n - 1) / n * bytes, 4 * messages) << "n " << n;
      EXPECT_LE(rank.peak_scratch_bytes, (elements + columns - 1) / columns * 4);
      EXPECT_LE(rank.sent_to.size(), 2u);
    }
  }
}

TEST(Ring2dCost, TheReduceScatterGoesAlongColumnsThenRows) {
  for (const int n : {1, 2, 7, 4, 6, 9, 12, 33}) {
    const int rows = rows_of_grid(n), columns = n / rows, messages = rows - 1 + columns - 1;
    const FiberReport report = run(n, [n](Transport& net, TensorView data) {
      ring_2d_reduce_scatter(net, chunks_of(data, n), chunk(data, net.rank(), n), ReduceOp::sum);
    });
    EXPECT_EQ(report.rounds, messages) << "n " << n;
    for (const RankTraffic& rank : report.ranks) {
      EXPECT_EQ(rank.messages_sent, messages);
      EXPECT_NEAR(rank.bytes_sent, 1. * (n - 1) / n * bytes, 4 * messages) << "n " << n;
      EXPECT_LE(rank.peak_scratch_bytes, bytes + 3 * (bytes / rows + 4 * columns)) << "n " << n;
      EXPECT_LE(rank.sent_to.size(), 2u);
    }
  }
}

TEST(ScatterBruckCost, TwoWaysOfCeilLog2Rounds) {
  for (const int n : all_n)
    for (const int root : {0, n - 1}) {
      const FiberReport report =
          run(n, [&](Transport& net, TensorView data) { scatter_bruck_broadcast(net, data, root); });
      const int levels = ceil_log2(n);
      if (floor_pow2(n) == n)
        EXPECT_EQ(report.rounds, 2 * levels) << "n " << n << " root " << root;
      else
        EXPECT_LE(report.rounds, 3 * levels - 1) << "n " << n << " root " << root;
      for (const RankTraffic& rank : report.ranks) {
        EXPECT_LE(rank.bytes_sent, 2 * bytes) << "n " << n;
        EXPECT_EQ(rank.peak_scratch_bytes, 0);
      }
    }
}

TEST(HierarchicalCost, OnlyAShareOfTheDataLeavesTheNode) {
  constexpr int per_node = 4, nodes = 3, n = per_node * nodes;
  FiberOptions options;
  for (int rank = 0; rank < n; ++rank) options.nodes.push_back(rank % nodes);  // not neighbours
  const FiberReport report = run_fibers(
      n,
      [](Transport& net) {
        Tensor data = ones({n * 10});
        hierarchical_all_reduce(net, data.flat(), ReduceOp::sum);
      },
      options);
  EXPECT_EQ(report.rounds, 2 * (per_node - 1) + 2 * (nodes - 1));
  for (int r = 0; r < n; ++r) {
    const RankTraffic& rank = report.ranks[r];
    EXPECT_EQ(rank.messages_sent, 2 * (per_node - 1) + 2 * (nodes - 1));
    EXPECT_EQ(rank.bytes_sent * n, 2 * (n - 1) * n * 10 * 4) << "the bytes of the ring";
    EXPECT_EQ(std::ranges::count_if(rank.sent_to, [&](int to) { return to % nodes != r % nodes; }), 1)
        << "one neighbour in another node";
  }
}

TEST(HierarchicalCost, RanksBeyondTheSmallestNodeHandOverAndGetBack) {
  const FiberReport report = run_fibers(5,
                                        [](Transport& net) {
                                          Tensor data = ones({12});
                                          hierarchical_all_reduce(net, data.flat(), ReduceOp::sum);
                                        },
                                        {.nodes = {7, 7, 7, 9, 9}});  // rank 2 is beyond: g = 2
  EXPECT_EQ(report.ranks[2].messages_sent, 1);
  EXPECT_EQ(report.ranks[2].sent_to, std::set<int>{0});
  EXPECT_EQ(report.ranks[2].bytes_received, 48);
  EXPECT_EQ(report.ranks[0].messages_sent, 2 + 2 + 1);
  EXPECT_EQ(report.ranks[1].messages_sent, 2 + 2);
  EXPECT_EQ(report.rounds, 2 + 2 + 2);
}

TEST(RingSegmentedCost, TheRingsBytesInMTimesItsMessages) {
  for (int n : all_n) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { ring_segmented_all_reduce(net, data, ReduceOp::sum, 40); });
    const int m = segments_of_chunk(bytes, n, 40);
    EXPECT_EQ(m, std::max(1, (static_cast<int>(bytes) + n * 40 - 1) / (n * 40)));
    EXPECT_LE(report.rounds, 2 * (n - 1) * m + 2) << "n " << n;
    for (int r = 0; r < n; ++r) {
      const RankTraffic& rank = report.ranks[r];
      EXPECT_EQ(rank.messages_sent, 2 * (n - 1) * m);
      EXPECT_EQ(rank.bytes_sent, 2 * bytes - chunk_bytes(r, n) - chunk_bytes(r + 1, n)) << "n " << n;
      if (n == 1) continue;
      EXPECT_EQ(rank.sent_to, std::set<int>{mod(r + 1, n)});
      EXPECT_LE(rank.peak_scratch_bytes, 2 * 44) << "two segments";
    }
  }
}

TEST(BaselineCost, TheServersPortAndEverybodysPort) {
  for (int n : all_n) {
    const FiberReport served = run(
        n, [](Transport& net, TensorView data) { parameter_server_all_reduce(net, data, ReduceOp::sum); });
    EXPECT_EQ(served.rounds, 2 * (n - 1));
    EXPECT_EQ(served.ranks[0].bytes_received, (n - 1) * bytes);
    EXPECT_EQ(served.ranks[0].bytes_sent, (n - 1) * bytes);
    for (int r = 1; r < n; ++r) EXPECT_EQ(served.ranks[r].bytes_sent, bytes);
    const FiberReport naive =
        run(n, [](Transport& net, TensorView data) { naive_exchange_all_reduce(net, data, ReduceOp::sum); });
    EXPECT_EQ(naive.rounds, n - 1);
    for (const RankTraffic& rank : naive.ranks) {
      EXPECT_EQ(rank.bytes_sent, (n - 1) * bytes);
      EXPECT_EQ(rank.bytes_received, (n - 1) * bytes);
      EXPECT_EQ(rank.peak_scratch_bytes, n == 1 ? 0 : n * bytes);
    }
  }
}

}  // namespace
}  // namespace dist::test
