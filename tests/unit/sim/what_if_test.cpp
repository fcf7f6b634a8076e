// What-ifs: slow ranks, slow links, lost ranks.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/sim/topology_file.h"
#include "dist/simulate/simulate_collective.h"

#include "support/expect_error.h"
#include "unit/sim/simulate.h"

namespace dist::test::what_if {
namespace {

using sim::WhatIf;

constexpr double o = 1e-6, alpha = 2e-6, beta = 1e-9, gamma = 3e-9;  // s, s, s/byte, s/byte

sim::Topology line() { return sim::Topology::uniform(o, alpha, beta, gamma); }

double seconds_of(const std::string& algorithm, int ranks, std::int64_t bytes, const WhatIf& what_if) {
  return sim::simulate_collective({OpKind::all_reduce, algorithm, ranks, bytes, what_if}, line())
      .virtual_time_s;
}

sim::Report run(int n, const WhatIf& what_if, const std::function<void(int)>& fn) {
  sim::RunOptions options;
  options.ranks = n;
  options.what_if = what_if;
  return sim::run(options, fn);
}

// Two ranks, ring: twice one message of S/2 bytes, and one sum of S/2 bytes between them. Rank 1 is 4 times
// slower: both messages take four times the o (it is at one end of each), and the sum that counts is its own.
TEST(Straggler, PaysMoreForOverheadAndSums) {
  constexpr double half = 4000;
  const double expected = 2 * (4 * o + half * beta + alpha) + 4 * half * gamma;
  EXPECT_NEAR(seconds_of("ring", 2, 8000, {.stragglers = {{1, 4}}}), expected, 1e-11);
}

TEST(Straggler, ComputesLonger) {
  const auto report = run(3, {.stragglers = {{2, 2.5}}}, [](int) { sim::compute(0.010); });
  EXPECT_EQ(report.text(), "");
  EXPECT_DOUBLE_EQ(report.virtual_time_s, 0.025);
}

TEST(Straggler, SleepsNoLonger) {
  const auto report =
      run(2, {.stragglers = {{1, 3}}}, [](int) { dist::sleep(std::chrono::milliseconds(10)); });
  EXPECT_DOUBLE_EQ(report.virtual_time_s, 0.010);
}

// Binomial broadcast over four ranks, as a tree of two rounds: 0 -> 2 and then 0 -> 1, 2 -> 3. The message
// over the slow link holds 10 times as long, in either direction; the others do not.
TEST(SlowLink, HoldsItsMessagesLonger) {
  const double hold = o + 1000 * beta;
  const auto time = [&](const WhatIf& what_if) {
    return sim::simulate_collective({OpKind::broadcast, "binomial", 4, 1000, what_if}, line()).virtual_time_s;
  };
  EXPECT_NEAR(time({}), 2 * (hold + alpha), 1e-11);
  EXPECT_NEAR(time({.slow_links = {{0, 2, 10}}}), 11 * hold + 2 * alpha, 1e-11);  // 2 -> 3 after it
  EXPECT_NEAR(time({.slow_links = {{2, 0, 10}}}), 11 * hold + 2 * alpha, 1e-11);
  EXPECT_NEAR(time({.slow_links = {{2, 3, 10}}}), 11 * hold + 2 * alpha, 1e-11);
  EXPECT_NEAR(time({.slow_links = {{1, 3, 10}}}), 2 * (hold + alpha), 1e-11);  // no message uses it
}

TEST(Loss, EveryOthersCollectiveNamesTheRank) {
  const auto report = run(4, {.losses = {{2, 1e-3}}}, [](int) {
    init_process_group();
    Tensor t = ones({4});
    for (;;) {
      all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
      sim::compute(1e-4);
    }
  });
  ASSERT_EQ(report.failures.size(), 4u);
  EXPECT_EQ(report.failures[0].rank, 2);
  EXPECT_EQ(report.failures[0].what, "rank 2 was lost at 1 ms");
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_NE(report.failures[i].what.find("rank 2 was lost at 1 ms"), std::string::npos)
        << report.failures[i].what;
  EXPECT_TRUE(report.findings.empty()) << report.text();
  EXPECT_NEAR(report.virtual_time_s, 1e-3, 1e-4);
}

// As on a real host: an operation of a group that contains the lost rank fails, even between others.
TEST(Loss, PendingAndLaterOperationsOfItsGroupsFail) {
  int pending = 0, later = 0, apart = 0, grouping = 0;
  const auto report = run(4, {.losses = {{3, 1e-3}}}, [&](int rank) {
    init_process_group();
    const ProcessGroup pair = new_group({0, 1});
    Tensor t = ones({1});
    const auto fails = [&](const std::function<void()>& operation) {
      try {
        operation();
      } catch (const Error& error) {
        return error.code() == Errc::peer_failed &&
               std::string(error.what()).find("rank 3 was lost at 1 ms") != std::string::npos;
      }
      return false;
    };
    if (rank == 3) return dist::sleep(std::chrono::seconds(1)), void(ADD_FAILURE());
    if (rank < 2) pending += fails([&] { recv(t, 1 - rank); });
    if (rank == 2) pending += fails([&] { recv(t, 3); });
    later += fails([&] { send(t, 3); });
    later += fails([&] { irecv(t, (rank + 1) % 3).wait(std::chrono::seconds(5)); });
    grouping += fails([&] { new_group({0, 1, 2}); });
    if (rank < 2) {
      all_reduce(t, ReduceOp::sum, {.group = pair});
      apart += t.item<int>() == 2;
    }
  });
  EXPECT_EQ(pending, 3);
  EXPECT_EQ(later, 6);
  EXPECT_EQ(grouping, 3);
  EXPECT_EQ(apart, 2);
  ASSERT_EQ(report.failures.size(), 1u) << report.text();
  EXPECT_EQ(report.failures[0].what, "rank 3 was lost at 1 ms");
  EXPECT_LT(report.virtual_time_s, 0.1);  // no rank waited for anything
}

TEST(Loss, RanksThatWaitToMeetAreTold) {
  const auto report = run(3, {.losses = {{0, 2e-3}}}, [&](int rank) {
    if (rank == 0) dist::sleep(std::chrono::seconds(1));
    init_process_group();
  });
  ASSERT_EQ(report.failures.size(), 3u) << report.text();
  EXPECT_NE(report.failures[1].what.find("init_process_group"), std::string::npos) << report.text();
  EXPECT_NE(report.failures[1].what.find("rank 0 was lost at 2 ms"), std::string::npos) << report.text();
}

TEST(Loss, WorkInFlightEndsToo) {
  int told = 0, ended = 0;
  const auto report = run(3, {.losses = {{1, 1e-3}}}, [&](int rank) {
    init_process_group();
    Tensor t = ones({4}), u = ones({4});
    struct Last {
      int& count;
      ~Last() { ++count; }
    } last{ended};
    if (rank == 1) sim::compute(1);
    Work sum = all_reduce(t, ReduceOp::sum, {.async_op = true});
    Work message = irecv(u, 1);
    while (!message.is_completed()) sim::compute(1e-4);
    for (Work* work : {&sum, &message}) {
      try {
        work->wait();
      } catch (const Error& error) {
        told += error.code() == Errc::peer_failed;
      }
    }
  });
  EXPECT_EQ(told, 4);
  EXPECT_EQ(ended, 3);  // what the lost rank held was destroyed
  ASSERT_EQ(report.failures.size(), 1u) << report.text();
}

// The lost rank itself sees nothing: no error, and none of its code runs any more.
TEST(Loss, TheRankItselfDoesNothingAnyMore) {
  for (const double at : {0., 1e-7, 1e-6, 3e-6, 1e-5, 2e-5}) {
    const auto report = run(3, {.losses = {{1, at}}}, [&](int rank) {
      const auto life = [] {
        init_process_group();
        Tensor t = ones({1000});
        for (int i = 0; i < 100; ++i) {
          Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
          barrier();
          work.wait();
        }
        destroy_process_group();
      };
      if (rank != 1) return life();
      try {
        life();
      } catch (const std::exception& error) {
        ADD_FAILURE() << at << ": " << error.what();
      }
    });
    ASSERT_EQ(report.failures.size(), 3u) << at << report.text();
    EXPECT_EQ(report.failures[0].rank, 1);
  }
}

TEST(Loss, AfterTheEndIsNone) {
  const auto report = run(2, {.losses = {{1, 5}}}, [](int) {
    init_process_group();
    barrier();
  });
  EXPECT_EQ(report.text(), "");
  EXPECT_LT(report.virtual_time_s, 1);
}

TEST(Loss, OfSeveralRanksTheFirstLostComesFirst) {
  const auto report = run(5, {.losses = {{4, 2e-3}, {0, 1e-3}}}, [](int rank) {
    init_process_group();
    Tensor t = ones({1});
    const ProcessGroup high = new_group({3, 4});
    if (rank < 3) recv(t, 4);
    for (;;) barrier({.group = high});
  });
  ASSERT_EQ(report.failures.size(), 5u) << report.text();
  EXPECT_EQ(report.failures[0].rank, 0);
  EXPECT_EQ(report.failures[1].rank, 4);
}

TEST(Loss, InACollectiveBySizes) {
  const auto topology = sim::load_topology("dgx-h100-ndr");
  for (const auto& algorithm : sim::simulated_algorithms(OpKind::all_reduce, topology)) {
    const auto cost = sim::simulate_collective(
        {OpKind::all_reduce, algorithm, 20, 64 << 20, {.losses = {{9, 100e-6}}}}, topology);
    ASSERT_EQ(cost.failures.size(), 20u) << algorithm;
    EXPECT_EQ(cost.failures[0].rank, 9) << algorithm;
    for (const auto& failed : cost.failures)
      EXPECT_NE(failed.what.find("rank 9 was lost at 100 us"), std::string::npos) << failed.what;
  }
}

TEST(WhatIfs, AreReadFromText) {
  const auto slow = sim::parse_straggler("3x2.5");
  EXPECT_EQ(slow.rank, 3);
  EXPECT_EQ(slow.factor, 2.5);
  const auto link = sim::parse_slow_link("0-12x10");
  EXPECT_EQ(link.a, 0);
  EXPECT_EQ(link.b, 12);
  EXPECT_EQ(link.factor, 10);
  EXPECT_EQ(sim::parse_loss("2@100us").rank, 2);
  EXPECT_DOUBLE_EQ(sim::parse_loss("2@100us").at_s, 100e-6);
  EXPECT_DOUBLE_EQ(sim::parse_loss("2@5ns").at_s, 5e-9);
  EXPECT_DOUBLE_EQ(sim::parse_loss("2@1.5ms").at_s, 1.5e-3);
  EXPECT_DOUBLE_EQ(sim::parse_loss("2@0s").at_s, 0);
}

TEST(WhatIfs, OddTextIsQuoted) {
  for (const char* text : {"", "3", "x2", "3x", "3x2x", "3 x2", "three x2", "3.5x2"})
    expect_error(Errc::invalid_argument, {"\"" + std::string(text) + "\"", "3x2.5"},
                 [&] { sim::parse_straggler(text); });
  for (const char* text : {"", "0", "0-", "0-1", "0-1x", "0x1-2", "0-1x2 ", "-1x2"})
    expect_error(Errc::invalid_argument, {"\"" + std::string(text) + "\"", "0-1x10"},
                 [&] { sim::parse_slow_link(text); });
  for (const char* text : {"", "2", "2@", "2@us", "2@100", "2@100 us", "2@100min", "2@100us,", "@100us"})
    expect_error(Errc::invalid_argument, {"\"" + std::string(text) + "\"", "2@100us"},
                 [&] { sim::parse_loss(text); });
}

TEST(WhatIfs, ValuesThatCannotBeAreRefused) {
  const auto refused = [](const WhatIf& what_if, const std::vector<std::string>& words) {
    expect_error(Errc::invalid_argument, words, [&] { run(4, what_if, [](int) {}); });
    expect_error(Errc::invalid_argument, words, [&] { seconds_of("ring", 4, 8, what_if); });
  };
  refused({.stragglers = {{4, 2}}}, {"straggler 4x2", "no rank 4", "0 to 3"});
  refused({.stragglers = {{-1, 2}}}, {"no rank -1"});
  refused({.stragglers = {{1, 0.5}}}, {"factor is 0.5", "from 1"});
  refused({.stragglers = {{1, std::nan("")}}}, {"factor is nan"});
  refused({.stragglers = {{1, 1e300}}}, {"from 1 to 1000000"});
  refused({.stragglers = {{1, 2}, {1, 3}}}, {"straggler 1x3", "twice"});
  refused({.slow_links = {{0, 4, 2}}}, {"slow link 0-4x2", "no rank 4"});
  refused({.slow_links = {{1, 1, 2}}}, {"slow link 1-1x2", "two ends"});
  refused({.slow_links = {{0, 1, 0}}}, {"factor is 0"});
  refused({.slow_links = {{0, 1, 2}, {1, 0, 2}}}, {"slow link 1-0x2", "twice"});
  refused({.losses = {{7, 0}}}, {"no rank 7"});
  refused({.losses = {{1, -1}}}, {"time must be from 0"});
  refused({.losses = {{1, std::nan("")}}}, {"time must be from 0"});
  refused({.losses = {{1, 1}, {1, 2}}}, {"twice"});
}

}  // namespace
}  // namespace dist::test::what_if
