// new_group, split_group and the ranks in them.
#include <filesystem>

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using check::Code;
using test::expect_error;
using test::finds;
using test::RankOptions;
using test::run_ranks;
using test::told;
using namespace std::chrono_literals;

double sum_over(const ProcessGroup& group, double mine) {
  Tensor t = full({1}, mine);
  all_reduce(t, {.group = group});
  return t.item<double>();
}

TEST(Groups, HalvesAndTheirSums) {
  for (const int n : {2, 3, 4, 5, 8}) {
    run_ranks(
        n,
        [&](int rank) {
          std::vector<int> low, high;
          for (int r = 0; r < n; ++r) (r < n / 2 ? low : high).push_back(r);
          const ProcessGroup a = new_group(low), b = new_group(high);
          const ProcessGroup& mine = rank < n / 2 ? a : b;
          const ProcessGroup& other = rank < n / 2 ? b : a;
          EXPECT_TRUE(mine.is_member());
          EXPECT_FALSE(other.is_member());
          EXPECT_EQ(other.rank(), -1);
          EXPECT_EQ(get_rank(other), -1);
          EXPECT_EQ(get_world_size(other), -1);
          EXPECT_EQ(get_world_size(mine), mine.size());
          double want = 0;
          for (const int r : mine.ranks()) want += r;
          EXPECT_EQ(sum_over(mine, rank), want);
          expect_error(Errc::invalid_argument, {"not a member of", other.name(), "groups_test.cpp"},
                       [&] { sum_over(other, 1); });
          EXPECT_EQ(sum_over({}, 1), n) << "the default group goes on";
        },
        finds({Code::wrong_group, Code::wrong_group}));
  }
}

// Two groups: ranks 0 and 1, and 2 and 3.
TEST(Groups, WhatStandsBeforeTheOptionsMayBeLeftOut) {
  run_ranks(4, [](int rank) {
    const ProcessGroup pair = split_group(rank / 2);
    const auto first = static_cast<float>(rank - rank % 2), sum = 2 * first + 1;
    const bool is_first = rank % 2 == 0;
    Tensor t = full({1}, rank), halves = full({2}, rank), mine = zeros({1});
    reduce(t, 0, {.group = pair, .group_dst = 0});
    EXPECT_EQ(t.item<float>(), is_first ? sum : static_cast<float>(rank));
    reduce_scatter_tensor(mine, halves, {.group = pair});
    EXPECT_EQ(mine.item<float>(), sum);
    reduce_scatter(mine, {halves.narrow(0, 1), halves.narrow(1, 1)}, {.group = pair});
    EXPECT_EQ(mine.item<float>(), sum);
    Tensor both = zeros({2});
    all_to_all_single(both, halves, {.group = pair});
    EXPECT_EQ(both.to_vector<float>(), (std::vector<float>{first, first + 1}));
  });
}

TEST(Groups, RowsAndColumnsOfAMesh) {
  run_ranks(6, [](int rank) {  // 2 rows of 3
    const ProcessGroup row = split_group(rank / 3), column = split_group(rank % 3);
    EXPECT_EQ(row.size(), 3);
    EXPECT_EQ(column.size(), 2);
    EXPECT_EQ(row.rank(), rank % 3);
    EXPECT_EQ(column.rank(), rank / 3);
    const double row_sum = sum_over(row, rank);
    EXPECT_EQ(row_sum, rank < 3 ? 3 : 12);
    EXPECT_EQ(sum_over(column, row_sum), 15);
  });
}

TEST(Groups, ReversedOrderAndRankTranslation) {
  run_ranks(4, [](int rank) {
    const ProcessGroup reversed = new_group({3, 2, 1, 0});
    EXPECT_EQ(reversed.rank(), 3 - rank);
    EXPECT_EQ(reversed.global_rank(0), 3);
    EXPECT_EQ(reversed.group_rank(0), 3);
    EXPECT_EQ(reversed.group_rank(7), -1);
    expect_error(Errc::invalid_argument, {"no group rank 4"}, [&] { reversed.global_rank(4); });

    Tensor t = full({2}, rank);
    broadcast(t, 1, {.group = reversed});  // a global rank
    EXPECT_EQ(t.to_vector<int>()[0], 1);
    t.fill_(rank);
    broadcast(t, 0, {.group = reversed, .group_src = 0});  // a group rank: global rank 3
    EXPECT_EQ(t.to_vector<int>()[0], 3);

    Tensor out = zeros({4});
    all_gather_into_tensor(out, full({1}, rank), {.group = reversed});
    EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{3, 2, 1, 0}));
  });
}

TEST(Groups, OverlappingGroups) {
  run_ranks(4, [](int rank) {
    const ProcessGroup a = new_group({0, 1, 2}), b = new_group({1, 2, 3}), c = new_group({0, 3});
    for (int round = 0; round < 10; ++round) {
      if (a.is_member()) {
        EXPECT_EQ(sum_over(a, rank), 3);
      }
      if (b.is_member()) {
        EXPECT_EQ(sum_over(b, rank), 6);
      }
      if (c.is_member()) {
        EXPECT_EQ(sum_over(c, rank), 3);
      }
    }
  });
}

TEST(Groups, GroupsOfOne) {
  run_ranks(3, [](int rank) {
    std::vector<ProcessGroup> own;
    for (int r = 0; r < 3; ++r) own.push_back(new_group({r}));
    const ProcessGroup& mine = own[static_cast<std::size_t>(rank)];
    EXPECT_EQ(sum_over(mine, 7), 7);
    barrier({.group = mine});
    EXPECT_EQ(all_gather_object("x", {.group = mine}).size(), 1u);
  });
}

TEST(Groups, SplitByKeyAndWithoutColor) {
  run_ranks(
      5,
      [](int rank) {
        const ProcessGroup group = split_group(rank == 2 ? -1 : 7, -rank);
        if (rank == 2) {
          EXPECT_FALSE(group.is_member());
          expect_error(Errc::invalid_argument, {"not a member"}, [&] { sum_over(group, 1); });
        } else {
          EXPECT_EQ(group.ranks(), (std::vector<int>{4, 3, 1, 0})) << "ordered by key";
          EXPECT_EQ(sum_over(group, 1), 4);
          const ProcessGroup pair = split_group(group.rank() / 2, 0, {.parent = group});
          EXPECT_EQ(pair.ranks(), rank >= 3 ? (std::vector<int>{4, 3}) : (std::vector<int>{1, 0}));
          EXPECT_EQ(sum_over(pair, rank), rank >= 3 ? 7 : 1);
        }
        // Split apart and then together again: the numbers of the groups must not collide.
        const ProcessGroup all = new_group({0, 1, 2, 3, 4});
        EXPECT_EQ(sum_over(all, 1), 5);
      },
      finds({Code::wrong_group}));
}

TEST(Groups, SubgroupsOfEqualSizeAndByLists) {
  run_ranks(6, [](int rank) {
    const ProcessGroup pair = new_subgroups(2), all = new_subgroups(6);
    EXPECT_EQ(pair.ranks(), (std::vector<int>{rank / 2 * 2, rank / 2 * 2 + 1}));
    EXPECT_EQ(all.size(), 6);
    const ProcessGroup listed = new_subgroups_by_enumeration({{5, 0}, {1, 2, 4}});
    EXPECT_EQ(listed.is_member(), rank != 3);
    if (rank == 5) {
      EXPECT_EQ(listed.ranks(), (std::vector<int>{5, 0}));
    }
    if (listed.is_member()) {
      EXPECT_EQ(sum_over(listed, rank), rank % 5 == 0 ? 5 : 7);
    }
    expect_error(Errc::invalid_argument, {"a size of 4 does not divide 6 ranks"}, [] { new_subgroups(4); });
    expect_error(Errc::mismatch, {"a group size of"}, [&] { new_subgroups(rank == 1 ? 3 : 2); });
    expect_error(Errc::invalid_argument, {"rank 2 is in the lists twice"}, [] {
      new_subgroups_by_enumeration({{1, 2}, {2, 3}});
    });
    expect_error(Errc::invalid_argument, {"rank 6 is not in"}, [] {
      new_subgroups_by_enumeration({{5, 6}});
    });
    const ProcessGroup sorted = new_group({3, 1, 2}, {.sort_ranks = true});
    EXPECT_EQ(sorted.ranks(), (std::vector<int>{1, 2, 3}));
    barrier();
  });
}

TEST(Groups, MessagesWithinAGroupDoNotMeetOthers) {
  run_ranks(2, [](int rank) {
    const ProcessGroup pair = new_group({0, 1});
    Tensor a = full({1}, rank == 0 ? 1 : -1), b = full({1}, rank == 0 ? 2 : -1);
    if (rank == 0) {
      Work world = isend(a, 1), group = isend(b, 1, {.group = pair});
      world.wait();
      group.wait();
    } else {
      recv(b, 0, {.group = pair});
      recv(a, 0);
      EXPECT_EQ(a.item<int>(), 1);
      EXPECT_EQ(b.item<int>(), 2);
    }
  });
}

TEST(Groups, ConcurrentAsyncOnTwoGroups) {
  run_ranks(4, [](int rank) {
    const ProcessGroup row = split_group(rank / 2), column = split_group(rank % 2);
    std::vector<Tensor> rows, columns;
    std::vector<Work> works;
    for (int i = 0; i < 20; ++i) {
      rows.push_back(full({500}, rank));
      columns.push_back(full({500}, rank));
      // Each rank mixes the groups in its own order; only the order within a group matters.
      if ((rank + i) % 2)
        works.push_back(all_reduce(rows.back(), ReduceOp::sum, {.group = row, .async_op = true}));
      works.push_back(all_reduce(columns.back(), ReduceOp::sum, {.group = column, .async_op = true}));
      if ((rank + i) % 2 == 0)
        works.push_back(all_reduce(rows.back(), ReduceOp::sum, {.group = row, .async_op = true}));
    }
    for (auto& work : works) work.wait();
    for (const auto& t : rows) EXPECT_EQ(max(t), rank < 2 ? 1 : 5);
    for (const auto& t : columns) EXPECT_EQ(max(t), rank % 2 ? 4 : 2);
  });
}

TEST(Groups, DifferentRankListsAreNamed) {
  run_ranks(
      4,
      [](int rank) {
        const auto text = expect_error(
            Errc::mismatch, {"ranks 0, 1, 3 call new_group({0, 1}", "rank 2 calls new_group({1, 2}"}, [&] {
              new_group(rank == 2 ? std::vector{1, 2} : std::vector{0, 1});
            });
        EXPECT_NE(text.find("groups_test.cpp:"), std::string::npos) << text;
        EXPECT_EQ(sum_over(new_group({0, 1, 2, 3}), 1), 4)
            << "nothing was made, and the ranks are still in step";
      },
      finds({Code::wrong_group}));
}

TEST(Groups, NewGroupAgainstSplitGroup) {
  run_ranks(
      3,
      [](int rank) {
        expect_error(Errc::mismatch, {"rank 1 calls split_group", "ranks 0, 2 call new_group"}, [&] {
          if (rank == 1)
            split_group(0);
          else
            new_group({0, 1});
        });
      },
      finds({Code::wrong_group}));
}

TEST(Groups, OnlyMembersCallNewGroup) {
  RankOptions quick;
  quick.init.timeout = 700ms;
  run_ranks(
      3,
      [](int rank) {
        if (rank == 2) {
          dist::sleep(2s);
          return;
        }
        expect_error(
            Errc::timeout,
            told({"new_group({0, 1}", "rank 2 did not come within 700 ms"}, {"rank 2 is in no operation"}),
            [] {
              new_group({0, 1});
            });
      },
      quick);
}

TEST(Groups, WrongRankLists) {
  run_ranks(2, [](int) {
    expect_error(Errc::invalid_argument, {"at least one rank"}, [] { new_group({}); });
    expect_error(Errc::invalid_argument, {"rank 2 does not exist", "0 to 1"}, [] { new_group({0, 2}); });
    expect_error(Errc::invalid_argument, {"rank -1 does not exist"}, [] { new_group({-1}); });
    expect_error(Errc::invalid_argument, {"rank 1 is listed twice"}, [] { new_group({1, 0, 1}); });
  });
}

TEST(Groups, ABackendThatIsNotHere) {
  REAL_RANKS_ONLY("a simulation stands in for every backend");
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "every backend may be here: there is a GPU";
  run_ranks(2, [](int) {
    expect_error(Errc::unsupported, {"backend \"nccl\" cannot be used"},
                 [] { new_group({0}, {.backend = "nccl"}); });
  });
}

TEST(Groups, DestroyOneGroup) {
  run_ranks(2, [](int) {
    const ProcessGroup group = new_group({0, 1});
    EXPECT_EQ(sum_over(group, 1), 2);
    destroy_process_group(group);
    expect_error(Errc::not_initialized, {"was destroyed", group.name()}, [&] { sum_over(group, 1); });
    expect_error(Errc::not_initialized, {"was destroyed"}, [&] { destroy_process_group(group); });
    EXPECT_EQ(sum_over({}, 1), 2);
    EXPECT_TRUE(is_initialized());
  });
}

TEST(Groups, Queries) {
  run_ranks(3, [](int rank) {
    EXPECT_EQ(get_rank(), rank);
    EXPECT_EQ(get_world_size(), 3);
    EXPECT_EQ(get_local_rank(), rank);
    const char* const backend = test::ranks_are_simulated() ? "sim" : "host";
    EXPECT_EQ(get_backend(), backend);
    EXPECT_EQ(get_process_group_ranks(), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(default_group().size(), 3);
    EXPECT_EQ(default_group().backend(), backend);
    expect_error(Errc::invalid_argument, {"empty"}, [] { ProcessGroup{}.size(); });
    EXPECT_FALSE(ProcessGroup{}.is_member());
  });
}

}  // namespace
}  // namespace dist
