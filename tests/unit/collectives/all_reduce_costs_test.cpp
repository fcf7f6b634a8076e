// The formulas of the all-reduce headers (and the ring's other collectives), counted: rounds, messages,
// bytes, scratch and peers of every rank.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/binomial.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/tree.h"
#include "dist/collectives/trees.h"

#include "costs.h"

namespace dist::test {
namespace {

TEST(RingCost, AllReduceSendsTwoNMinusOneChunksToTheNextRankOnly) {
  for (int n : all_n) {
    const FiberReport report =
        run(n, [](Transport& net, TensorView data) { ring_all_reduce(net, data, ReduceOp::sum); });
    EXPECT_EQ(report.rounds, 2 * (n - 1));
    for (int r = 0; r < n; ++r) {
      const RankTraffic& rank = report.ranks[r];
      EXPECT_EQ(rank.messages_sent, 2 * (n - 1));
      EXPECT_EQ(rank.messages_received, 2 * (n - 1));
      EXPECT_EQ(rank.bytes_sent, 2 * bytes - chunk_bytes(r, n) - chunk_bytes(r + 1, n)) << "n " << n;
      EXPECT_EQ(rank.bytes_received, 2 * bytes - chunk_bytes(r - 1, n) - chunk_bytes(r, n));
      if (n == 1) continue;
      EXPECT_EQ(rank.sent_to, std::set<int>{mod(r + 1, n)});
      EXPECT_EQ(rank.received_from, std::set<int>{mod(r - 1, n)});
      EXPECT_EQ(rank.peak_scratch_bytes, (elements + n - 1) / n * 4) << "one chunk";
    }
  }
}

TEST(RingCost, AllReduceOfEqualChunksSendsExactlyTheFormula) {
  for (int n : {2, 4, 5, 8, 10})
    for (const RankTraffic& rank :
         run(n, [](Transport&net, TensorView data) { ring_all_reduce(net, data, ReduceOp::sum); }).ranks)
      EXPECT_EQ(rank.bytes_sent * n, 2 * (n - 1) * bytes);
}

TEST(RingCost, ReduceScatterAndAllGatherAreOnePhaseEach) {
  for (int n : all_n) {
    const FiberReport scattered = run(n, [n](Transport& net, TensorView data) {
      Tensor out = zeros({chunk(data, net.rank(), n).count});
      ring_reduce_scatter(net, chunks_of(data, n), out.flat(), ReduceOp::sum);
    });
    const FiberReport gathered = run(n, [n](Transport& net, TensorView data) {
      ring_all_gather(net, chunk(data, net.rank(), n), chunks_of(data, n));
    });
    EXPECT_EQ(scattered.rounds, n - 1);
    EXPECT_EQ(gathered.rounds, n - 1);
    for (int r = 0; r < n; ++r) {
      EXPECT_EQ(scattered.ranks[r].bytes_sent, bytes - chunk_bytes(r, n));
      EXPECT_EQ(gathered.ranks[r].bytes_sent, bytes - chunk_bytes(r + 1, n));
      EXPECT_EQ(gathered.ranks[r].peak_scratch_bytes, 0);
      if (n == 1) continue;
      EXPECT_EQ(scattered.ranks[r].peak_scratch_bytes, 2 * ((elements + n - 1) / n * 4)) << "two chunks";
      EXPECT_EQ(scattered.ranks[r].sent_to, std::set<int>{mod(r + 1, n)});
    }
  }
}

TEST(RecursiveDoublingCost, RoundsAndBytes) {
  for (int n : all_n) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { recursive_doubling_all_reduce(net, data, ReduceOp::sum); });
    const int p = floor_pow2(n), log_p = ceil_log2(p);
    EXPECT_EQ(report.rounds, p == n ? log_p : log_p + 2) << "n " << n;
    for (int r = 0; r < n; ++r) {
      const bool beyond = r >= p, has_partner = r + p < n;
      EXPECT_EQ(report.ranks[r].messages_sent, beyond ? 1 : log_p + (has_partner ? 1 : 0));
      EXPECT_EQ(report.ranks[r].bytes_sent, report.ranks[r].messages_sent * bytes);
      EXPECT_LE(report.ranks[r].peak_scratch_bytes, bytes);
    }
  }
}

TEST(TreeCost, EveryLinkCarriesTheDataOnceEachWay) {
  for (int n : all_n) {
    for (std::int64_t segment_bytes : {std::int64_t{400}, std::int64_t{1} << 20}) {
      const int m = segment_bytes == 400 ? 10 : 1;
      const FiberReport report = run(n, [&](Transport& net, TensorView data) {
        tree_all_reduce(net, data, ReduceOp::sum, segment_bytes);
      });
      EXPECT_EQ(total_messages(report), 2 * (n - 1) * m);
      for (int r = 0; r < n; ++r) {
        const BinaryNode node = binary_node(r, n);
        const auto links = static_cast<std::int64_t>(node.children.size()) + (r == 0 ? 0 : 1);
        EXPECT_EQ(report.ranks[r].messages_sent, links * m);
        EXPECT_EQ(report.ranks[r].bytes_sent, links * bytes);
        EXPECT_EQ(report.ranks[r].bytes_received, links * bytes);
        EXPECT_LE(report.ranks[r].bytes_sent, 3 * bytes);
        EXPECT_EQ(report.ranks[r].peak_scratch_bytes,
                  static_cast<std::int64_t>(node.children.size()) * std::min(segment_bytes, bytes));
      }
    }
  }
}

TEST(TreeCost, LatencyGrowsWithTheLogarithm) {
  for (int n = 2; n <= 130; ++n) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { tree_all_reduce(net, data, ReduceOp::sum); }, 2);
    EXPECT_LE(report.rounds, 4 * ceil_log2(n) - 2) << "n " << n;
  }
}

// An inner rank's port takes three messages per segment; it would be four if down began after up had ended.
TEST(TreeCost, BothWaysOverlapInThePipeline) {
  constexpr int m = 200;
  for (int n : {4, 5, 7, 8, 16, 17, 33, 64, 100, 128}) {
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { tree_all_reduce(net, data, ReduceOp::sum, 4); }, m);
    EXPECT_LE(report.rounds, 3 * m + 4 * ceil_log2(n) + 2) << "n " << n;
  }
}

TEST(ReduceBroadcastCost, TwiceTheBinomialTree) {
  for (int n : all_n)
    EXPECT_EQ(
        run(n, [](Transport& net, TensorView data) { reduce_broadcast_all_reduce(net, data, ReduceOp::sum); })
            .rounds,
        2 * ceil_log2(n));
}

}  // namespace
}  // namespace dist::test
