// The formulas of the other headers, counted.
#include "costs.h"

#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/binomial.h"
#include "dist/collectives/chain.h"
#include "dist/collectives/dissemination.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/trees.h"

namespace dist::test {
namespace {

TEST(BinomialCost, EveryCollectiveTakesCeilLog2Rounds) {
  for (int n : all_n) {
    for (int root : {0, n - 1}) {
      const FiberReport sent =
          run(n, [&](Transport& net, TensorView data) { binomial_broadcast(net, data, root); });
      const FiberReport reduced =
          run(n, [&](Transport& net, TensorView data) { binomial_reduce(net, data, ReduceOp::sum, root); });
      EXPECT_EQ(sent.rounds, ceil_log2(n)) << "n " << n;
      EXPECT_EQ(reduced.rounds, ceil_log2(n)) << "n " << n;
      EXPECT_EQ(total_messages(sent), n - 1);
      EXPECT_EQ(total_messages(reduced), n - 1);
      EXPECT_EQ(sent.ranks[root].bytes_sent, ceil_log2(n) * bytes);
      EXPECT_EQ(reduced.ranks[root].bytes_received, ceil_log2(n) * bytes);
      for (int r = 0; r < n; ++r) EXPECT_EQ(sent.ranks[r].messages_received, r == root ? 0 : 1);
      for (int r = 0; r < n; ++r) EXPECT_EQ(reduced.ranks[r].bytes_sent, r == root ? 0 : bytes);
    }
  }
}

TEST(BinomialCost, ScatterAndGatherMoveEachSubtreeInOneMessage) {
  for (int n : all_n) {
    for (int root : {0, n / 2}) {
      const auto list = [n](TensorView data) { return std::vector(static_cast<std::size_t>(n), data); };
      const FiberReport scattered = run(n, [&](Transport& net, TensorView data) {
        Tensor out = zeros({elements});
        binomial_scatter(net, list(data), out.flat(), root);
      });
      const FiberReport gathered = run(n, [&](Transport& net, TensorView data) {
        Tensor all = zeros({n * elements});
        binomial_gather(net, data, chunks_of(all.flat(), n), root);
      });
      EXPECT_EQ(scattered.rounds, ceil_log2(n));
      EXPECT_EQ(gathered.rounds, ceil_log2(n));
      EXPECT_EQ(scattered.ranks[root].bytes_sent, (n - 1) * bytes) << "each share once";
      EXPECT_EQ(gathered.ranks[root].bytes_received, (n - 1) * bytes);
      for (int r = 0; r < n; ++r) {
        const BinomialNode node = binomial_node(r, root, n);
        EXPECT_EQ(scattered.ranks[r].bytes_received, r == root ? 0 : node.span * bytes);
        EXPECT_EQ(scattered.ranks[r].bytes_sent, (node.span - 1) * bytes) << "no more than it must";
        EXPECT_EQ(gathered.ranks[r].bytes_sent, r == root ? 0 : node.span * bytes);
        EXPECT_EQ(scattered.ranks[r].peak_scratch_bytes, node.is_leaf() && r != root ? 0 : node.span * bytes);
      }
    }
  }
}

TEST(FlatCost, TheRootDealsWithEveryOtherRank) {
  for (int n : all_n) {
    const int root = n / 2;
    const auto check = [&](const FiberReport& report, bool root_sends) {
      EXPECT_EQ(report.rounds, n - 1);
      EXPECT_EQ(total_messages(report), n - 1);
      const RankTraffic& at_root = report.ranks[root];
      EXPECT_EQ(root_sends ? at_root.bytes_sent : at_root.bytes_received, (n - 1) * bytes);
    };
    check(run(n, [&](Transport& net, TensorView data) { flat_broadcast(net, data, root); }), true);
    check(run(n, [&](Transport& net, TensorView data) { flat_reduce(net, data, ReduceOp::sum, root); }),
          false);
    check(run(n,
              [&](Transport& net, TensorView data) {
                Tensor out = zeros({elements});
                flat_scatter(net, std::vector(static_cast<std::size_t>(n), data), out.flat(), root);
              }),
          true);
    check(run(n,
              [&](Transport& net, TensorView data) {
                Tensor all = zeros({n * elements});
                flat_gather(net, data, chunks_of(all.flat(), n), root);
              }),
          false);
  }
}

TEST(ChainCost, TheRootSendsTheDataOnceAndTheRestIsPipelined) {
  for (int n : all_n) {
    if (n == 1) continue;
    for (int m : {1, 4, 10}) {
      const int root = n - 1;
      const FiberReport report =
          run(n, [&](Transport& net, TensorView data) { chain_broadcast(net, data, root, bytes / m); });
      EXPECT_EQ(report.rounds, n + m - 2) << "n " << n << " m " << m;
      for (int r = 0; r < n; ++r) {
        const bool last = r == mod(root - 1, n);
        EXPECT_EQ(report.ranks[r].bytes_sent, last ? 0 : bytes);
        EXPECT_EQ(report.ranks[r].messages_sent, last ? 0 : m);
        EXPECT_EQ(report.ranks[r].peak_scratch_bytes, 0);
      }
    }
  }
}

TEST(PairwiseCost, OneRoundForEachOtherRank) {
  for (int n : all_n) {
    const auto list = [n](TensorView data) { return std::vector(static_cast<std::size_t>(n), data); };
    std::vector<FiberReport> reports;
    reports.push_back(run(n, [&](Transport& net, TensorView data) {
      Tensor all = zeros({n * elements});
      pairwise_all_to_all(net, list(data), chunks_of(all.flat(), n));
    }));
    reports.push_back(run(n, [&](Transport& net, TensorView data) {
      Tensor out = zeros({elements});
      pairwise_reduce_scatter(net, list(data), out.flat(), ReduceOp::sum);
    }));
    reports.push_back(run(n, [&](Transport& net, TensorView data) {
      Tensor all = zeros({n * elements});
      pairwise_all_gather(net, data, chunks_of(all.flat(), n));
    }));
    for (const FiberReport& report : reports) {
      EXPECT_EQ(report.rounds, n - 1);
      for (const RankTraffic& rank : report.ranks) {
        EXPECT_EQ(rank.messages_sent, n - 1);
        EXPECT_EQ(rank.bytes_sent, (n - 1) * bytes);
        EXPECT_EQ(static_cast<int>(rank.sent_to.size()), n - 1);
        EXPECT_LE(rank.peak_scratch_bytes, bytes);
      }
    }
  }
}

TEST(DisseminationCost, CeilLog2EmptyMessagesARank) {
  for (int n = 1; n <= 130; ++n) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView) { dissemination_barrier(net); }, 0);
    EXPECT_EQ(report.rounds, ceil_log2(n));
    for (const RankTraffic& rank : report.ranks) {
      EXPECT_EQ(rank.messages_sent, ceil_log2(n));
      EXPECT_EQ(rank.bytes_sent, 0);
    }
  }
}

}  // namespace
}  // namespace dist::test
