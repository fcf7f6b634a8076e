// Choosing by cost: always the cheapest, and it changes where the formulas cross.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

const std::vector<OpKind> collectives{OpKind::broadcast,  OpKind::reduce,         OpKind::all_reduce,
                                      OpKind::scatter,    OpKind::gather,         OpKind::all_gather,
                                      OpKind::all_to_all, OpKind::reduce_scatter, OpKind::barrier};

const std::vector<CostModel> models{
    {}, tcp_costs(), {.alpha = 0, .beta = 0, .gamma = 0, .overhead = 0, .copy = 0}};

template <class Check>
void for_each_situation(const Check& check) {
  for (OpKind kind : collectives)
    for (const CostModel& model : models)
      for (int n : {1, 2, 3, 8, 13, 600, 24576})
        for (std::size_t bytes : {0ul, 1ul, 4096ul, 1ul << 20, 1ul << 32})
          for (int nodes : {1, std::max(1, n / 4)})
            check(kind, bytes, World{.ranks = n, .nodes = nodes}, model);
}

TEST(Choose, NamesTheCheapestOfTheAlgorithmsThatAreRightForAllArguments) {
  for_each_situation([](OpKind kind, std::size_t bytes, const World& at, const CostModel& model) {
    const Choice choice = choose(kind, bytes, at, model);
    const AlgorithmEntry& chosen = find_algorithm(kind, choice.algorithm);
    EXPECT_FALSE(chosen.direct);
    EXPECT_FALSE(chosen.is_baseline);
    EXPECT_FALSE(chosen.needs_equal_counts);
    EXPECT_NE(choice.reason.find(choice.algorithm), std::string::npos) << choice.reason;
    if (at.ranks == 1) return;
    const auto cost = [&](const AlgorithmEntry& e) {
      return e.seconds(model, at, static_cast<double>(bytes));
    };
    for (const AlgorithmEntry& other : algorithms()) {
      if (other.collective != kind || other.needs_equal_counts || other.direct || other.is_baseline) continue;
      EXPECT_LE(cost(chosen), cost(other))
          << chosen.name << " and not " << other.name << ": " << choice.reason;
    }
  });
}

// With the default figures no message is as fast as reading memory in place. This also holds where ranks take
// turns on a core, because a message waits for two turns.
TEST(Choose, PrefersMappedMemoryWhereThereIsSome) {
  for (const OpKind kind : collectives)
    for (const int n : {1, 2, 3, 8})
      for (const std::size_t bytes : {0ul, 4ul, 4096ul, 1ul << 16, 1ul << 26})
        for (const CostModel& model : {CostModel{}, on_shared_cores({})}) {
          const Choice choice = choose(kind, bytes, {.ranks = n, .peers_mapped = true}, model);
          EXPECT_TRUE(find_algorithm(kind, choice.algorithm).direct) << choice.reason;
        }
  EXPECT_EQ(choose(OpKind::all_reduce, 64, {.ranks = 4, .peers_mapped = true}).algorithm, "one_shot");
  EXPECT_EQ(choose(OpKind::all_reduce, 4096, {.ranks = 2, .peers_mapped = true}).algorithm, "one_shot");
  EXPECT_EQ(choose(OpKind::all_reduce, 1 << 20, {.ranks = 4, .peers_mapped = true}).algorithm, "two_shot");
}

TEST(Estimates, HoldEveryAlgorithmOnceInOrder) {
  for_each_situation([](OpKind kind, std::size_t bytes, const World& at, const CostModel& model) {
    const auto all = estimates(kind, bytes, at, model);
    const auto known = std::ranges::count(algorithms(), kind, &AlgorithmEntry::collective);
    ASSERT_EQ(static_cast<std::ptrdiff_t>(all.size()), known);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const Estimate &before = all[i - 1], &here = all[i];
      EXPECT_NE(before.algorithm, here.algorithm);
      EXPECT_GE(here.seconds, 0);
      const bool considered = here.not_considered.empty();
      EXPECT_TRUE(before.not_considered.empty() || !considered) << "those not considered come last";
      const bool comparable = before.not_considered.empty() == considered;
      EXPECT_TRUE(!comparable || before.seconds <= here.seconds);
    }
    for (const Estimate& e : all) {
      const double formula = at.ranks == 1 ? 0 : e.algorithm->seconds(model, at, static_cast<double>(bytes));
      EXPECT_EQ(e.seconds, formula) << e.algorithm->name;
    }
  });
}

std::string chosen(OpKind kind, double bytes, int n, const CostModel& model = {}) {
  return std::string(choose(kind, static_cast<std::size_t>(bytes), {.ranks = n}, model).algorithm);
}

double cost_of(OpKind kind, std::size_t bytes, const World& at, const CostModel& model) {
  const AlgorithmEntry& chosen = find_algorithm(kind, choose(kind, bytes, at, model).algorithm);
  return chosen.seconds(model, at, static_cast<double>(bytes));
}

// `part` is contained in an all_reduce, and may take longer by one copy, the one that keeps the other ranks'
// data unchanged.
void expect_no_more_than_all_reduce(OpKind part, std::size_t bytes, const World& at, const CostModel& model) {
  EXPECT_LE(cost_of(part, bytes, at, model), 1.0001 * (cost_of(OpKind::all_reduce, bytes, at, model) +
                                                       model.copy * static_cast<double>(bytes)))
      << name(part) << " of " << bytes << " bytes on " << at.ranks << " ranks by "
      << choose(part, bytes, at, model).algorithm << " and "
      << choose(OpKind::all_reduce, bytes, at, model).algorithm;
}

constexpr int some_ranks[] = {2, 3, 4, 5, 8, 13, 64, 100, 1000};

TEST(Choose, APartOfAnAllReduceCostsNoMoreByMessages) {
  for (const CostModel& model : {CostModel{}, tcp_costs()})
    for (const int n : some_ranks)
      for (std::size_t size = 8; size <= 1ul << 32; size *= 2)
        for (const std::size_t bytes : {size, size / 2 * 3})
          for (const OpKind part :
               {OpKind::broadcast, OpKind::reduce, OpKind::all_gather, OpKind::reduce_scatter})
            expect_no_more_than_all_reduce(part, bytes, {.ranks = n}, model);
}

// A root does not read alone what all ranks together would read faster, whether or not each rank has a core.
TEST(Choose, APartOfAnAllReduceCostsNoMoreInMappedMemory) {
  for (const CostModel& model : {CostModel{}, on_shared_cores({})})
    for (const int n : some_ranks)
      for (std::size_t size = 2; size <= 1ul << 32; size *= 2)
        for (const std::size_t bytes : {size, size / 2 * 3})
          for (const OpKind part : {OpKind::reduce, OpKind::reduce_scatter})
            expect_no_more_than_all_reduce(part, bytes, {.ranks = n, .peers_mapped = true}, model);
}

// alpha is paid for each of L messages, or the data L times: they meet where the header's formulas do.
TEST(Choose, ChangesWhereTheFormulasCross) {
  const CostModel m{.alpha = 3e-6, .beta = 1e-9, .gamma = 2e-10, .overhead = 0, .copy = 0};
  constexpr int n = 8;
  // recursive doubling 3 (a + bS + cS), rabenseifner 6 a + 7/4 bS + 7/8 cS
  const double all_reduce = 3 * m.alpha / ((3 - 1.75) * m.beta + (3 - 0.875) * m.gamma);
  EXPECT_EQ(chosen(OpKind::all_reduce, 0.99 * all_reduce, n, m), "recursive_doubling");
  EXPECT_EQ(chosen(OpKind::all_reduce, 1.01 * all_reduce, n, m), "rabenseifner");
  // binomial 3 (a + bS), scatter_bruck 6 a + 7/4 bS
  const double broadcast = 3 * m.alpha / ((3 - 1.75) * m.beta);
  EXPECT_EQ(chosen(OpKind::broadcast, 0.99 * broadcast, n, m), "binomial");
  EXPECT_EQ(chosen(OpKind::broadcast, 1.01 * broadcast, n, m), "scatter_bruck");
  // bruck 3 a + 7/8 bS + cS, ring 7 a + 7/8 bS
  const CostModel copies{.alpha = 3e-6, .beta = 1e-9, .gamma = 0, .overhead = 0, .copy = 1e-10};
  const double all_gather = 4 * copies.alpha / copies.copy;
  EXPECT_EQ(chosen(OpKind::all_gather, 0.99 * all_gather, n, copies), "bruck");
  EXPECT_EQ(chosen(OpKind::all_gather, 1.01 * all_gather, n, copies), "ring");
}

TEST(Choose, ManyRanksGoOverTrees) {
  EXPECT_EQ(chosen(OpKind::all_reduce, 64, 1000), "recursive_doubling");
  EXPECT_EQ(chosen(OpKind::all_reduce, 64 << 20, 24571), "double_binary_tree")
      << "prime: one row for ring_2d";
  EXPECT_EQ(chosen(OpKind::broadcast, 64 << 20, 8), "chain");
}

TEST(Choose, SeveralNodesOfSeveralRanksMayGoHierarchically) {
  CostModel model;
  model.cards = 4;  // each rank has one
  const auto seconds = [&](int nodes) {
    return find_algorithm(OpKind::all_reduce, "hierarchical")
        .seconds(model, {.ranks = 12, .nodes = nodes}, 1 << 20);
  };
  const auto ring = find_algorithm(OpKind::all_reduce, "ring").seconds({}, {.ranks = 12}, 1 << 20);
  EXPECT_DOUBLE_EQ(seconds(1), ring);
  EXPECT_DOUBLE_EQ(seconds(12), ring);
  EXPECT_LT(seconds(3), ring);
}

TEST(Choose, RanksThatShareACardSendFarInTurn) {
  const World at{.ranks = 32, .nodes = 4};
  CostModel shared = tcp_costs(), own = shared;
  own.cards = 8;
  const auto seconds = [&](const char* algorithm, const CostModel& model) {
    return find_algorithm(OpKind::all_reduce, algorithm).seconds(model, at, 64 << 20);
  };
  EXPECT_DOUBLE_EQ(seconds("ring", shared), seconds("ring", own))
      << "one rank of a node sends to other nodes";
  EXPECT_GT(seconds("rabenseifner", shared), 3 * seconds("rabenseifner", own));
  EXPECT_LT(seconds("ring", shared), seconds("rabenseifner", shared));
}

TEST(Choose, MessagesWithinANodeTakeLess) {
  const CostModel model = tcp_costs();
  for (const char* algorithm : {"recursive_doubling", "tree", "hierarchical"}) {
    const auto seconds = [&](int nodes) {
      return find_algorithm(OpKind::all_reduce, algorithm).seconds(model, {.ranks = 32, .nodes = nodes}, 8);
    };
    EXPECT_LT(seconds(4), seconds(32)) << algorithm;
  }
}

TEST(Choose, TheReasonIsASentenceWithFigures) {
  const std::string reason = choose(OpKind::all_reduce, 1 << 20, {.ranks = 8}).reason;
  for (const char* part : {"is estimated at", "1048576 bytes on 8 ranks", "the next are", " us"})
    EXPECT_NE(reason.find(part), std::string::npos) << reason;
  EXPECT_EQ(choose(OpKind::all_reduce, 8, {.ranks = 1}).reason,
            "recursive_doubling, because one rank has no other to communicate with");
  EXPECT_EQ(choose(OpKind::scatter, 8, {.ranks = 4}).reason, "flat, the only one that takes any arguments");
}

TEST(Choose, ScatterGatherAndAllToAllDoNotDependOnBytesThatOnlyOneRankKnows) {
  for (OpKind kind : {OpKind::scatter, OpKind::gather, OpKind::all_to_all}) {
    const Choice few = choose(kind, 0, {.ranks = 8}), many = choose(kind, 1ul << 30, {.ranks = 8});
    EXPECT_EQ(few.algorithm, many.algorithm);
  }
  for (const Estimate& e : estimates(OpKind::scatter, 8, {.ranks = 8}))
    EXPECT_EQ(e.not_considered.empty(), e.algorithm->name == "flat") << e.not_considered;
}

TEST(Choose, RefusesWhatMakesNoSense) {
  expect_error(Errc::internal, {"choose: send is not a collective"},
               [] { choose(OpKind::send, 8, {.ranks = 2}); });
  for (const World& at : {World{.ranks = 0}, {.ranks = 4, .nodes = 0}, {.ranks = 4, .nodes = 5}})
    expect_error(Errc::invalid_argument, {"ranks on", "node"}, [&] { choose(OpKind::barrier, 0, at); });
}

}  // namespace
}  // namespace dist::test
