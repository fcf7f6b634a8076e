// What a user is told when ranks wait in vain, never arrive, or fail.

#include <gtest/gtest.h>

#include "dist/check/who.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using check::Code;
using test::expect_error;
using test::finds;
using test::run_ranks;
using test::told;
using namespace std::chrono_literals;

TEST(Reports, WhoSaysWhat) {
  const std::vector<check::RankSays> said{{0, "x", " at a"}, {1, "y", ""}, {2, "x", " at b"}};
  EXPECT_EQ(check::who_says_what(said, "is ", "are "), "ranks 0, 2 are x at a; rank 1 is y");
  std::vector<int> many;
  for (int i = 0; i < 24; ++i) many.push_back(i);
  EXPECT_EQ(check::list_ranks(many), "ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (24 in all)");
}

TEST(Timeouts, ACollectiveNamesWhatTheOthersDo) {
  run_ranks(3, [](int rank) {
    Tensor t = zeros({8});
    barrier();
    if (rank == 0) {
      const auto text = expect_error(Errc::timeout,
                                     told({"rank 0", "all_reduce", "(8 f32)", " ms", "reports_test.cpp"},
                                          {"meanwhile", "rank 1 is in recv #0 (8 f32) at reports_test.cpp",
                                           "rank 2 is in no operation; the last, barrier #0"}),
                                     [&] { all_reduce(t, ReduceOp::sum, {.timeout = 300ms}); });
      EXPECT_EQ(text.find("D1"), text.npos) << "rank 2 may still come: " << text;
    } else if (rank == 1) {
      expect_error(Errc::timeout, {"rank 1", "recv", "rank 2"}, [&] { recv(t, 2, {.timeout = 2s}); });
    } else {
      dist::sleep(3s);
    }
  });
}

TEST(Timeouts, TwoInTurnTellOfTwoMoments) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        if (rank == 0) {
          expect_error(Errc::timeout, told({"recv #0"}, {"rank 1 is in recv #0"}),
                       [&] { recv(t, 1, {.timeout = 200ms}); });
          barrier();
          expect_error(Errc::timeout, told({"recv #1"}, {"rank 1 is in no operation; the last, barrier #0"}),
                       [&] { recv(t, 1, {.timeout = 100ms}); });
        } else {
          expect_error(Errc::timeout, {"recv #0"}, [&] { recv(t, 0, {.timeout = 250ms}); });
          barrier();
          dist::sleep(1s);
        }
      },
      finds({Code::deadlock}));
}

TEST(Timeouts, EveryRankIsStuckAndEveryRankIsTold) {
  run_ranks(
      3,
      [](int rank) {
        Tensor t = zeros({8});  // a ring of receives: no rank sends
        expect_error(Errc::timeout,
                     told({"recv", "; called at reports_test.cpp:"},
                          {"meanwhile", "are in recv #0 (8 f32) at reports_test.cpp:",
                           "D1 deadlock: 3 ranks wait", "cycle: rank 0 -> rank 1 -> rank 2 -> rank 0"}),
                     [&] { recv(t, (rank + 1) % 3, {.timeout = 300ms}); });
        barrier();
      },
      finds({Code::deadlock}));
}

TEST(Timeouts, AnAsyncReceiveThatNobodyStandsStillForIsNoDeadlock) {
  run_ranks(2, [](int rank) {
    Tensor in = zeros({8}), out = ones({8});
    if (rank == 0) {
      const auto text = expect_error(Errc::timeout, {"rank 1"}, [&] { recv(in, 1, {.timeout = 400ms}); });
      EXPECT_EQ(text.find("D1"), text.npos) << text;
      send(out, 1);
    } else {
      Work pending = irecv(in, 0);
      dist::sleep(800ms);
      pending.wait();
    }
  });
}

TEST(Timeouts, TheGroupsOwnAndTheEnvironments) {
  run_ranks(
      2,
      [](int rank) {
        const ProcessGroup impatient = new_group({0, 1}, {.timeout = 200ms});
        Tensor t = zeros({1});
        if (rank == 0) {
          const auto start = Clock::now();
          expect_error(Errc::timeout, {" ms"}, [&] { recv(t, 1, {.group = impatient}); });
          EXPECT_GE(Clock::now() - start, 200ms);
          expect_error(Errc::timeout, {" ms"}, [&] { recv(t, 1, {.group = impatient, .timeout = 100ms}); });
        }
        barrier();
      },
      finds({Code::deadlock}));  // said once, when only a timeout can end it
}

TEST(Timeouts, AGroupIsOutOfStepAfterATimeout) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4}), other = zeros({4}), third = zeros({4}), message = zeros({1});
        if (rank == 0) {
          Work first = all_reduce(t, ReduceOp::sum, {.async_op = true, .timeout = 200ms});
          Work second = all_reduce(other, ReduceOp::sum, {.async_op = true});
          expect_error(Errc::timeout, {" ms"}, [&] { first.wait(); });
          expect_error(Errc::aborted, {"all_reduce #1", "an earlier collective", "all_reduce #0"},
                       [&] { second.wait(); });
          expect_error(Errc::aborted, {"all_reduce #2"}, [&] { all_reduce(third); });
        }
        if (rank == 0)
          send(message, 1);  // messages are not concerned
        else
          recv(message, 0);
        const ProcessGroup fresh = new_group({0, 1});
        Tensor u = full({1}, 1);
        all_reduce(u, ReduceOp::sum, {.group = fresh});
        EXPECT_EQ(u.item<int>(), 2);
      },
      finds({Code::deadlock}));
}

TEST(MonitoredBarrier, PassesWhenAllCome) {
  for (const int n : {1, 2, 3, 8}) {
    run_ranks(n, [](int) {
      for (int i = 0; i < 5; ++i) monitored_barrier(10s);
    });
  }
}

TEST(MonitoredBarrier, NamesAllThatDidNotCome) {
  run_ranks(5, [](int rank) {
    if (rank == 1 || rank == 3) {
      dist::sleep(1500ms);
      return;
    }
    expect_error(Errc::timeout,
                 {"monitored_barrier at reports_test.cpp", "ranks 1, 3 did not come within 400 ms"},
                 [] { monitored_barrier(400ms); });
  });
}

TEST(MonitoredBarrier, TellsAllOfOneThatHasLeft) {
  const auto barrier = [](int rank) {
    if (rank == 1) return destroy_process_group();
    expect_error(Errc::peer_failed, {"monitored_barrier at reports_test.cpp", ": rank 1 has left the job"},
                 [] { monitored_barrier(2s); });
    dist::sleep(1500ms);  // a rank that was notified first is not reported as one that has left
  };
  run_ranks(4, barrier, finds({Code::deadlock}));
}

TEST(MonitoredBarrier, NamesRankZero) {
  run_ranks(3, [](int rank) {
    if (rank == 0) {
      dist::sleep(1200ms);
      return;
    }
    expect_error(Errc::timeout, {"rank 0 did not come within 300 ms"}, [] { monitored_barrier(300ms); });
  });
}

TEST(MonitoredBarrier, NamesThoseThatHadGivenUp) {
  run_ranks(3, [](int rank) {
    if (rank == 0) dist::sleep(1000ms);
    const char* const late = "ranks 1, 2 had given up before this rank came";
    expect_error(Errc::timeout, {rank == 0 ? late : "rank 0 did not come within 300 ms"},
                 [] { monitored_barrier(300ms); });
    if (rank != 0) dist::sleep(2500ms);
  });
}

TEST(PeerFailure, EveryPendingOperationNamesTheRank) {
  try {
    run_ranks(4, [](int rank) {
      Tensor t = zeros({100'000});
      barrier();
      if (rank == 3) throw std::runtime_error("out of coffee");
      Work pending = all_reduce(t, ReduceOp::sum, {.async_op = true});
      expect_error(Errc::peer_failed, {"rank 3", "out of coffee"}, [&] { pending.wait(); });
      Tensor u = zeros({1});
      expect_error(Errc::peer_failed, {"rank 3", "out of coffee"}, [&] { recv(u, 3); });
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "out of coffee");
  }
}

}  // namespace
}  // namespace dist
