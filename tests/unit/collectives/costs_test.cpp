// The formulas of the headers, counted: rounds, messages, bytes, scratch and peers of every rank.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/binomial.h"
#include "dist/collectives/chain.h"
#include "dist/collectives/chunks.h"
#include "dist/collectives/dissemination.h"
#include "dist/collectives/flat.h"
#include "dist/collectives/pairwise.h"
#include "dist/collectives/recursive_doubling.h"
#include "dist/collectives/ring.h"
#include "dist/collectives/tree.h"
#include "dist/collectives/trees.h"
#include "dist/core/tensor.h"

#include "support/fiber_transport.h"

namespace dist::testing {
namespace {

const std::vector<int> all_n{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33};
constexpr std::int64_t elements = 1000, bytes = elements * 4;

template <class Body>  // body(net, data)
FiberReport run(int n, Body body, std::int64_t count = elements) {
  return run_fibers(n, [&](Transport& net) {
    Tensor data = ones({count});
    body(net, data.flat());
  });
}

std::int64_t chunk_bytes(int i, int n) {
  TensorView all{nullptr, elements, DType::f32, cpu};
  return static_cast<std::int64_t>(chunk(all, mod(i, n), n).bytes());
}

std::int64_t total_messages(const FiberReport& report) {
  return std::accumulate(report.ranks.begin(), report.ranks.end(), std::int64_t{0},
                         [](std::int64_t sum, const RankTraffic& r) { return sum + r.messages_sent; });
}

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

TEST(TreeCost, BothWaysOverlapInThePipeline) {
  for (int n : {2, 3, 8, 17, 64}) {
    constexpr int m = 200;
    const FiberReport report = run(
        n, [](Transport& net, TensorView data) { tree_all_reduce(net, data, ReduceOp::sum, 4); }, m);
    const int ports =
        n == 2 ? 1 : 3;  // arrivals a segment at the busiest rank; one after the other it would be 4
    EXPECT_LE(report.rounds, ports * m + 12 * ceil_log2(n)) << "n " << n;
  }
}

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

TEST(ReduceBroadcastCost, TwiceTheBinomialTree) {
  for (int n : all_n)
    EXPECT_EQ(
        run(n, [](Transport& net, TensorView data) { reduce_broadcast_all_reduce(net, data, ReduceOp::sum); })
            .rounds,
        2 * ceil_log2(n));
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
}  // namespace dist::testing
