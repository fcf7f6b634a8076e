// Every algorithm of the table, on virtual ranks, against a plain reference.
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/chain.h"
#include "dist/collectives/double_binary_tree.h"
#include "dist/collectives/ring_segmented.h"
#include "dist/collectives/tree.h"
#include "dist/core/fail.h"
#include "dist/core/tensor.h"

#include "collective_case.h"
#include "support/fiber_transport.h"

namespace dist::test {
namespace {

const std::vector<int> all_n{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33};

// Both send modes, each with data touched early and late; for many ranks each mode only once, to save time.
std::vector<FiberOptions> options_for(int n) {
  std::vector<FiberOptions> all{{.mode = SendMode::rendezvous, .touch = Touch::late},
                                {.mode = SendMode::eager, .touch = Touch::early}};
  if (n <= 9) {
    all.push_back({.mode = SendMode::rendezvous, .touch = Touch::early});
    all.push_back({.mode = SendMode::eager, .touch = Touch::late});
  }
  return all;
}

std::set<int> roots_for(OpKind kind, int n) {
  return has_root(kind) ? std::set<int>{0, n / 2, n - 1} : std::set<int>{0};
}

void run(const CollectiveCase& c, const FiberOptions& options) {
  try {
    run_fibers(
        c.ranks(), [&](Transport& net) { run_case(net, c); }, options);
  } catch (const Error& e) {
    ADD_FAILURE() << c.str() << ", " << (options.mode == SendMode::eager ? "eager" : "rendezvous") << ", "
                  << (options.touch == Touch::late ? "late" : "early") << ": " << e.what();
  }
}

// Like run(), but with several roots and all options.
void run_everywhere(CollectiveCase c) {
  for (int root : roots_for(c.algorithm->collective, c.ranks())) {
    c.root = root;
    for (const FiberOptions& options : options_for(c.ranks())) run(c, options);
  }
}

// The table, and the pipelined algorithms once more, in segments so small that there are several.
std::vector<AlgorithmEntry> entries() {
  std::vector<AlgorithmEntry> all(algorithms().begin(), algorithms().end());
  all.push_back({OpKind::all_reduce, "tree_in_short_segments",
                 [](Transport& net, const CollectiveArgs& a) { tree_all_reduce(net, a.out, a.op, 120); },
                 ""});
  all.push_back({OpKind::all_reduce, "tree_element_by_element",
                 [](Transport& net, const CollectiveArgs& a) {
                   tree_all_reduce(net, a.out, a.op, a.out.count > 99 ? 64 : 1);
                 },
                 ""});
  all.push_back(
      {OpKind::all_reduce, "double_binary_tree_in_short_segments",
       [](Transport& net, const CollectiveArgs& a) { double_binary_tree_all_reduce(net, a.out, a.op, 120); },
       ""});
  all.push_back({OpKind::all_reduce, "double_binary_tree_element_by_element",
                 [](Transport& net, const CollectiveArgs& a) {
                   double_binary_tree_all_reduce(net, a.out, a.op, a.out.count > 99 ? 64 : 1);
                 },
                 ""});
  all.push_back(
      {OpKind::all_reduce, "ring_in_short_segments",
       [](Transport& net, const CollectiveArgs& a) { ring_segmented_all_reduce(net, a.out, a.op, 36); }, ""});
  all.push_back({OpKind::all_reduce, "ring_element_by_element",
                 [](Transport& net, const CollectiveArgs& a) {
                   ring_segmented_all_reduce(net, a.out, a.op, a.out.count > 99 ? 8 : 1);
                 },
                 ""});
  all.push_back({OpKind::broadcast, "chain_in_short_segments",
                 [](Transport& net, const CollectiveArgs& a) { chain_broadcast(net, a.out, a.root, 36); },
                 ""});
  all.push_back({OpKind::reduce, "chain_in_short_segments",
                 [](Transport& net, const CollectiveArgs& a) { chain_reduce(net, a.out, a.op, a.root, 36); },
                 ""});
  return all;
}

std::vector<AlgorithmEntry> uneven_entries() {
  std::vector<AlgorithmEntry> some = entries();
  std::erase_if(some, [](const AlgorithmEntry& e) { return !takes_uneven_counts(e); });
  return some;
}

std::string test_name(const ::testing::TestParamInfo<AlgorithmEntry>& instance) {
  return std::string(name(instance.param.collective)) + "_" + std::string(instance.param.name);
}

class EveryAlgorithm : public ::testing::TestWithParam<AlgorithmEntry> {};
class EveryUnevenAlgorithm : public EveryAlgorithm {};

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, ::testing::ValuesIn(entries()), test_name);
INSTANTIATE_TEST_SUITE_P(Table, EveryUnevenAlgorithm, ::testing::ValuesIn(uneven_entries()), test_name);

TEST_P(EveryAlgorithm, IsRightForEverySizeAndRankCount) {
  for (int n : all_n)
    for (std::int64_t elements : {0, 1, 2, 7, 1000})
      run_everywhere(
          {.algorithm = &GetParam(), .counts = std::vector(static_cast<std::size_t>(n), elements)});
}

TEST_P(EveryAlgorithm, IsRightInPlace) {
  for (int n : {1, 2, 3, 5, 8})
    for (std::int64_t elements : {0, 1, 7})
      run_everywhere({.algorithm = &GetParam(),
                      .counts = std::vector(static_cast<std::size_t>(n), elements),
                      .in_place = true});
}

TEST_P(EveryUnevenAlgorithm, TakesCountsThatDiffer) {
  for (int n : all_n) {
    for (int pattern = 0; pattern < 3; ++pattern) {
      std::vector<std::int64_t> counts;
      for (int i = 0; i < n; ++i) {
        const std::array<std::int64_t, 3> shapes{(i * 5 + 2) % 8, i == n / 2 ? 100 : 0, i};
        counts.push_back(shapes[static_cast<std::size_t>(pattern)]);
      }
      run_everywhere({.algorithm = &GetParam(), .counts = counts});
      run_everywhere({.algorithm = &GetParam(), .counts = counts, .in_place = true});
    }
  }
}

TEST_P(EveryAlgorithm, TakesEveryDtypeAndOperation) {
  const bool all_ops = reduces(GetParam().collective);
  for (int n : {1, 2, 3, 5, 8}) {
    for (DType dtype : all_dtypes) {
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max, ReduceOp::band,
                          ReduceOp::bor, ReduceOp::bxor}) {
        if (!is_defined(op.kind(), dtype) || (!all_ops && op != ReduceOp::sum)) continue;
        run_everywhere({.algorithm = &GetParam(),
                        .counts = std::vector<std::int64_t>(static_cast<std::size_t>(n), 13),
                        .dtype = dtype,
                        .op = op});
      }
    }
  }
}

TEST_P(EveryAlgorithm, IsRightForDataOfSeveralSegments) {
  for (int n : {2, 3, 5})
    for (SendMode mode : {SendMode::rendezvous, SendMode::eager})
      run({.algorithm = &GetParam(),
           .counts = std::vector<std::int64_t>(static_cast<std::size_t>(n), 65'537)},
          {.mode = mode});
}

TEST_P(EveryAlgorithm, RunsOnSixHundredRanks) {
  const OpKind kind = GetParam().collective;
  const bool lists =
      kind == OpKind::all_gather || kind == OpKind::reduce_scatter || kind == OpKind::all_to_all;
  run({.algorithm = &GetParam(), .counts = std::vector<std::int64_t>(lists ? 150 : 600, 3), .root = 0}, {});
}

// Rank r's result of an f32 all-reduce whose inputs make(r) gives, as bits.
template <class Make>
std::vector<std::vector<std::uint32_t>> bits_of_all_reduce(const AlgorithmEntry& algorithm, int n,
                                                           ReduceOp op, Make make,
                                                           const FiberOptions& options = {}) {
  std::vector<std::vector<std::uint32_t>> bits(static_cast<std::size_t>(n));
  const auto rank_main = [&](Transport& net) {
    std::vector<float> data = make(net.rank());
    Tensor t = Tensor::from_blob(data.data(), {static_cast<std::int64_t>(data.size())});
    CollectiveArgs args;
    args.out = t.flat();
    args.op = op;
    algorithm.run(net, args);
    auto& mine = bits[static_cast<std::size_t>(net.rank())];
    mine.resize(data.size());
    std::memcpy(mine.data(), data.data(), data.size() * sizeof(float));
  };
  run_fibers(n, rank_main, options);
  return bits;
}

TEST(AllReduce, GivesAllRanksTheSameBitsEvenWhereSumsAreRounded) {
  for (const AlgorithmEntry& algorithm : entries()) {
    if (algorithm.collective != OpKind::all_reduce) continue;
    for (int n : all_n) {
      const auto bits = bits_of_all_reduce(algorithm, n, ReduceOp::sum, [](int rank) {
        std::vector<float> data(101);
        for (std::size_t i = 0; i < data.size(); ++i)
          data[i] =
              std::sin(static_cast<float>(rank * 1000) + static_cast<float>(i)) * std::pow(10.f, rank % 5);
        return data;
      });
      for (const auto& mine : bits) ASSERT_EQ(mine, bits[0]) << algorithm.name << " on " << n << " ranks";
    }
  }
}

TEST(AllReduce, GivesAllRanksTheSameBitsForNaNAndSignedZeros) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const AlgorithmEntry& algorithm : algorithms()) {
    if (algorithm.collective != OpKind::all_reduce) continue;
    for (ReduceOp op : {ReduceOp::min, ReduceOp::max, ReduceOp::sum}) {
      for (int n : all_n) {
        const auto bits = bits_of_all_reduce(algorithm, n, op, [](int rank) {
          return std::vector<float>{rank == 1 ? nan : 1, rank % 2 ? 0.f : -0.f, rank % 3 ? -0.f : 0.f, nan};
        });
        for (const auto& mine : bits)
          ASSERT_EQ(mine, bits[0]) << algorithm.name << " " << name(op.kind()) << " on " << n << " ranks";
      }
    }
  }
}

// Nodes of every kind: even, uneven, of one rank, and with ranks that are not neighbours.
std::vector<std::vector<int>> ways_to_share_nodes(int n) {
  std::vector<std::vector<int>> ways(5);
  for (int rank = 0; rank < n; ++rank) {
    ways[0].push_back(rank / 2);
    ways[1].push_back(rank % 3 * 7 - 5);       // round robin, any numbers
    ways[2].push_back(rank == n - 1 ? 1 : 0);  // all but one on the first
    ways[3].push_back(n - rank);               // each has its own, in reverse order
    ways[4].push_back(rank * rank % 4 + (rank > n / 2 ? 1 : 0));
  }
  return ways;
}

TEST(Hierarchical, IsRightHoweverRanksShareNodes) {
  const AlgorithmEntry& algorithm = find_algorithm(OpKind::all_reduce, "hierarchical");
  for (int n : all_n) {
    for (const auto& nodes : ways_to_share_nodes(n)) {
      for (std::int64_t elements : {0, 1, 7, 1000}) {
        for (FiberOptions options : options_for(n)) {
          options.nodes = nodes;
          run({.algorithm = &algorithm, .counts = std::vector(static_cast<std::size_t>(n), elements)},
              options);
        }
      }
    }
  }
}

TEST(Hierarchical, GivesAllRanksTheSameBitsHoweverTheyShareNodes) {
  const AlgorithmEntry& algorithm = find_algorithm(OpKind::all_reduce, "hierarchical");
  for (int n : all_n) {
    for (const auto& nodes : ways_to_share_nodes(n)) {
      const auto bits =
          bits_of_all_reduce(algorithm, n, ReduceOp::sum,
                             [](int rank) {
                               std::vector<float> data(37);
                               for (std::size_t i = 0; i < data.size(); ++i)
                                 data[i] = std::sin(static_cast<float>(rank * 1000) + static_cast<float>(i));
                               return data;
                             },
                             {.nodes = nodes});
      for (const auto& mine : bits) ASSERT_EQ(mine, bits[0]) << n << " ranks";
    }
  }
}

TEST(Barrier, NobodyLeavesBeforeAllHaveCome) {
  for (const AlgorithmEntry& algorithm : algorithms()) {
    if (algorithm.collective != OpKind::barrier) continue;
    for (int n : all_n) {
      for (const FiberOptions& options : options_for(n)) {
        int came = 0;
        run_fibers(
            n,
            [&](Transport& net) {
              for (int turn = 0; turn < net.rank() % 4; ++turn) {  // come at different times
                TensorView nothing;
                send_recv(net, nothing, net.rank(), nothing, net.rank());
              }
              ++came;
              algorithm.run(net, {});
              EXPECT_EQ(came, n);
            },
            options);
      }
    }
  }
}

}  // namespace
}  // namespace dist::test
