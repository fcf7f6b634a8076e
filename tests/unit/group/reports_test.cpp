// What a user is told when ranks disagree, wait in vain, or do not come.
#include <thread>

#include <gtest/gtest.h>

#include "dist/check/who.h"

#include "support/expect_error.h"
#include "support/thread_ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
using test::ScopedEnv;
using namespace std::chrono_literals;

TEST(Reports, WhoSaysWhat) {
  const std::vector<check::RankSays> said{{0, "x", " at a"}, {1, "y", ""}, {2, "x", " at b"}};
  EXPECT_EQ(check::who_says_what(said, "is ", "are "), "ranks 0, 2 are x at a; rank 1 is y");
  std::vector<int> many;
  for (int i = 0; i < 24; ++i) many.push_back(i);
  EXPECT_EQ(check::list_ranks(many), "ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (24 in all)");
}

class Detail : public testing::Test {
  const ScopedEnv debug_{"DIST_DEBUG", "detail"};
};

TEST_F(Detail, TheOddRankIsNamed) {
  run_ranks(4, [](int rank) {
    Tensor t = full({4}, 1);
    for (int i = 0; i < 7; ++i) all_reduce(t, ReduceOp::max);
    const auto text = expect_error(Errc::mismatch,
                                   {"ranks 0, 2, 3 are in all_reduce #7 (4 f32) at reports_test.cpp:",
                                    "rank 1 is in broadcast #7 (4 f32, root 0) at reports_test.cpp:"},
                                   [&] {
                                     if (rank == 1)
                                       broadcast(t, 0);
                                     else
                                       all_reduce(t);
                                   });
    all_reduce(t);
    EXPECT_EQ(max(t), 4) << "nothing had moved, so the ranks are still in step";
  });
}

TEST_F(Detail, EveryKindOfDifference) {
  run_ranks(3, [](int rank) {
    const bool odd = rank == 2;
    Tensor four = zeros({4}), five = zeros({5}), whole = zeros({4}, DType::i32);
    expect_error(Errc::mismatch, {"(4 f32)", "rank 2 is in all_reduce #0 (5 f32)"},
                 [&] { all_reduce(odd ? five : four); });
    expect_error(Errc::mismatch, {"(4 f32)", "rank 2 is in all_reduce #1 (4 i32)"},
                 [&] { all_reduce(odd ? whole : four); });
    expect_error(Errc::mismatch, {"(4 f32)", "(4 f32, max)"},
                 [&] { all_reduce(four, odd ? ReduceOp::max : ReduceOp::sum); });
    expect_error(Errc::mismatch, {"root 0", "rank 2 is in broadcast #3 (4 f32, root 1)"},
                 [&] { broadcast(four, odd ? 1 : 0); });
    expect_error(Errc::mismatch, {"rank 0 ", "has 4 elements for rank 2, which expects 5"}, [&] {
      std::vector<Tensor> list;
      for (int r = 0; rank == 0 && r < 3; ++r) list.push_back(zeros({4}));
      scatter(odd ? five : four, list, 0);
    });
    expect_error(Errc::mismatch, {"rank 2 ", "has 5 elements for rank 0, which expects 4"}, [&] {
      std::vector<Tensor> list;
      for (int r = 0; rank == 0 && r < 3; ++r) list.push_back(zeros({4}));
      gather(odd ? five : four, list, 0);
    });
    expect_error(Errc::mismatch, {"all_to_all", "for rank 1, which expects"}, [&] {
      std::vector<Tensor> ins, outs;
      for (int r = 0; r < 3; ++r) {
        ins.push_back(zeros({odd && r == 1 ? 3 : 2}));
        outs.push_back(zeros({2}));
      }
      all_to_all(outs, ins);
    });
    barrier();
  });
}

TEST_F(Detail, AsyncCollectivesAreComparedInTheirOrder) {
  run_ranks(2, [](int rank) {
    Tensor a = full({4}, 1), b = full({4}, 1), message = zeros({1});
    Work first = all_reduce(a, ReduceOp::sum, {.async_op = true});
    // The check must not hold up a rank that does something else first.
    if (rank == 0)
      send(message, 1);
    else
      recv(message, 0);
    Work second = rank == 0 ? all_reduce(b, ReduceOp::sum, {.async_op = true})
                            : all_reduce(b, ReduceOp::min, {.async_op = true});
    first.wait();
    EXPECT_EQ(max(a), 2);
    expect_error(Errc::mismatch, {"all_reduce #1 (4 f32, min)"}, [&] { second.wait(); });
  });
}

TEST_F(Detail, ARankThatCallsFewerCollectives) {
  run_ranks(3, [](int rank) {
    barrier();
    if (rank == 1) {
      std::this_thread::sleep_for(1500ms);
      return;
    }
    expect_error(Errc::timeout,
                 {"all_reduce #1 (2 f32)", "rank 1 did not come within 400 ms", "rank 1 is in no operation",
                  "its last, barrier #0 at reports_test.cpp"},
                 [] {
                   Tensor t = zeros({2});
                   all_reduce(t, ReduceOp::sum, {.timeout = 400ms});
                 });
  });
}

TEST(Mismatch, DifferentCollectivesWithoutTheCheck) {
  run_ranks(2, [](int rank) {
    Tensor t = zeros({4});
    std::vector<Tensor> list{zeros({4}), zeros({4})};
    try {
      if (rank == 0)
        all_reduce(t, ReduceOp::sum, {.timeout = 3s});
      else
        all_gather(list, t, {.timeout = 3s});
      FAIL() << "the ranks are in different collectives";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::mismatch) << error.what();
    }
  });
}

TEST(Timeouts, ACollectiveNamesWhatTheOthersDo) {
  run_ranks(3, [](int rank) {
    Tensor t = zeros({8});
    barrier();
    if (rank == 0) {
      const auto text = expect_error(Errc::timeout,
                                     {"rank 0", "all_reduce", "(8 f32)", " ms", "reports_test.cpp",
                                      "meanwhile", "rank 1 is in recv #0 (8 f32) at reports_test.cpp",
                                      "rank 2 is in no operation; its last, barrier #0"},
                                     [&] { all_reduce(t, ReduceOp::sum, {.timeout = 300ms}); });
      EXPECT_EQ(text.find("D1"), text.npos) << "rank 2 may still come: " << text;
    } else if (rank == 1) {
      expect_error(Errc::timeout, {"rank 1", "recv", "rank 2"}, [&] { recv(t, 2, {.timeout = 2s}); });
    } else {
      std::this_thread::sleep_for(3s);
    }
  });
}

TEST(Timeouts, EveryRankIsStuckAndEveryRankIsTold) {
  run_ranks(3, [](int rank) {
    Tensor t = zeros({8});  // a ring of receives: nobody sends
    expect_error(Errc::timeout,
                 {"recv", "; called at reports_test.cpp:", "meanwhile",
                  "are in recv #0 (8 f32) at reports_test.cpp:", "D1 deadlock: 3 ranks wait",
                  "cycle: rank 0 -> rank 1 -> rank 2 -> rank 0"},
                 [&] { recv(t, (rank + 1) % 3, {.timeout = 300ms}); });
    barrier();
  });
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
      std::this_thread::sleep_for(800ms);
      pending.wait();
    }
  });
}

TEST(Mismatch, DifferentCollectivesAreAFinding) {
  run_ranks(2, [](int rank) {
    Tensor t = zeros({4});
    try {
      if (rank == 0)
        all_reduce(t, ReduceOp::sum, {.timeout = 3s});
      else
        barrier({.timeout = 3s});
      FAIL() << "the ranks are in different collectives";
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("; D2 mismatched collective: "), std::string_view::npos)
          << error.what();
    }
  });
}

TEST(Mismatch, DifferentCollectivesAreAFindingAlsoWhenOneRankHasLeft) {
  run_ranks(2, [](int rank) {
    Tensor t = zeros({4});
    if (rank == 1) return void(broadcast(t, 1));  // small: it is on its way, and this rank leaves
    expect_error(
        Errc::mismatch,
        {"rank 1 is in broadcast f32 but rank 0 is in all_reduce f32",
         "; D2 mismatched collective: ", "rank 0: ", "reports_test.cpp:", "to mend it: let every rank"},
        [&] { all_reduce(t, ReduceOp::sum, {.timeout = 3s}); });
  });
}

TEST(Timeouts, TheGroupsOwnAndTheEnvironments) {
  run_ranks(2, [](int rank) {
    const ProcessGroup impatient = new_group({0, 1}, {.timeout = 200ms});
    Tensor t = zeros({1});
    if (rank == 0) {
      const auto start = std::chrono::steady_clock::now();
      expect_error(Errc::timeout, {" ms"}, [&] { recv(t, 1, {.group = impatient}); });
      EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
      expect_error(Errc::timeout, {" ms"}, [&] { recv(t, 1, {.group = impatient, .timeout = 100ms}); });
    }
    barrier();
  });
}

TEST(Timeouts, AGroupIsOutOfStepAfterATimeout) {
  run_ranks(2, [](int rank) {
    Tensor t = zeros({4}), message = zeros({1});
    if (rank == 0) {
      Work first = all_reduce(t, ReduceOp::sum, {.async_op = true, .timeout = 200ms});
      Work second = all_reduce(t, ReduceOp::sum, {.async_op = true});
      expect_error(Errc::timeout, {" ms"}, [&] { first.wait(); });
      expect_error(Errc::aborted, {"all_reduce #1", "an earlier collective", "all_reduce #0"},
                   [&] { second.wait(); });
      expect_error(Errc::aborted, {"all_reduce #2"}, [&] { all_reduce(t); });
    }
    if (rank == 0)
      send(message, 1);  // messages are not concerned
    else
      recv(message, 0);
    const ProcessGroup fresh = new_group({0, 1});
    Tensor u = full({1}, 1);
    all_reduce(u, ReduceOp::sum, {.group = fresh});
    EXPECT_EQ(u.item<int>(), 2);
  });
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
      std::this_thread::sleep_for(1500ms);
      return;
    }
    expect_error(Errc::timeout,
                 {"monitored_barrier at reports_test.cpp", "ranks 1, 3 did not come within 400 ms"},
                 [] { monitored_barrier(400ms); });
  });
}

TEST(MonitoredBarrier, NamesRankZero) {
  run_ranks(3, [](int rank) {
    if (rank == 0) {
      std::this_thread::sleep_for(1200ms);
      return;
    }
    expect_error(Errc::timeout, {"rank 0 did not come within 300 ms"}, [] { monitored_barrier(300ms); });
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
