// What a user is told when ranks disagree on a collective.
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using check::Code;
using test::expect_error;
using test::finds;
using test::run_ranks;
using test::ScopedEnv;
using test::told;
using namespace std::chrono_literals;

class Detail : public testing::Test {
  const ScopedEnv debug_{"DIST_DEBUG", "detail"};
};

TEST_F(Detail, TheOddRankIsNamed) {
  run_ranks(
      4,
      [](int rank) {
        Tensor t = full({4}, 1);
        for (int i = 0; i < 7; ++i) all_reduce(t, ReduceOp::max);
        const auto text = expect_error(Errc::mismatch,
                                       {"ranks 0, 2, 3 are in all_reduce #7 (4 f32) at mismatch_test.cpp:",
                                        "rank 1 is in broadcast #7 (4 f32, root 0) at mismatch_test.cpp:"},
                                       [&] {
                                         if (rank == 1)
                                           broadcast(t, 0);
                                         else
                                           all_reduce(t);
                                       });
        all_reduce(t);
        EXPECT_EQ(max(t), 4) << "nothing had moved, so the ranks are still in step";
      },
      finds({Code::mismatched_collective}));
}

TEST_F(Detail, EveryKindOfDifference) {
  run_ranks(
      3,
      [](int rank) {
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
      },
      finds({Code::misfit_message, Code::misfit_message, Code::mismatched_collective,
             Code::mismatched_collective, Code::misfit_message, Code::misfit_message, Code::misfit_message}));
}

TEST_F(Detail, AsyncCollectivesAreComparedInTheirOrder) {
  run_ranks(
      2,
      [](int rank) {
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
      },
      finds({Code::mismatched_collective}));
}

TEST_F(Detail, AlgorithmsThatCallsNameAreCompared) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        expect_error(Errc::mismatch, {"all_reduce #0 (4 f32)", "all_reduce #0 (4 f32, by ring)"}, [&] {
          rank == 0 ? all_reduce(t) : all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
        });
      },
      finds({Code::mismatched_collective}));
}

TEST_F(Detail, ARankThatCallsFewerCollectives) {
  run_ranks(3, [](int rank) {
    barrier();
    if (rank == 1) {
      dist::sleep(1500ms);
      return;
    }
    expect_error(Errc::timeout,
                 told({"all_reduce #1 (2 f32)", "rank 1 did not come within 400 ms"},
                      {"rank 1 is in no operation", "the last, barrier #0 at mismatch_test.cpp"}),
                 [] {
                   Tensor t = zeros({2});
                   all_reduce(t, ReduceOp::sum, {.timeout = 400ms});
                 });
  });
}

TEST(Mismatch, DifferentCollectivesWithoutTheCheck) {
  run_ranks(
      2,
      [](int rank) {
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
      },
      finds({Code::mismatched_collective}));
}

TEST(Mismatch, OtherReductionsByMessagesWithoutTheCheck) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        expect_error(Errc::mismatch, {"root or reduction"}, [&] {
          all_reduce(t, rank == 0 ? ReduceOp::sum : ReduceOp::max, {.timeout = 3s, .algorithm = "ring"});
        });
      },
      finds({Code::mismatched_collective}));
}

// By messages and without them (a direct algorithm); `call` is of one of these two kinds.
class TwoRoots : public testing::TestWithParam<const char*> {
 protected:
  static void call(Tensor& t, int root, bool scatters) {
    scatters ? scatter(t, {t.clone(), t.clone()}, root) : broadcast(t, root);
  }

 private:
  const ScopedEnv transport_{"DIST_TRANSPORT", GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Ways, TwoRoots, testing::Values("auto", "tcp"));
constexpr auto checker_does = "the checker finds it at once";

TEST_P(TwoRoots, AreNamedByTheNextOperation) {
  REAL_RANKS_ONLY(checker_does);
  for (const bool scatters : {false, true})
    run_ranks(2, [&](int rank) {
      Tensor t = full({4}, rank);
      call(t, rank, scatters);
      expect_error(Errc::mismatch,
                   {"all_reduce #1 (4 f32) comes after a mismatch",
                    scatters ? "scatter f32" : "broadcast f32", "different roots", "DIST_DEBUG=detail"},
                   [&] { all_reduce(t, ReduceOp::sum, {.timeout = 3s}); });
    });
}

TEST_P(TwoRoots, AreToldInTheEnd) {
  REAL_RANKS_ONLY(checker_does);
  for (const bool scatters : {false, true}) {
    testing::internal::CaptureStderr();
    run_ranks(2, [&](int rank) {
      Tensor t = full({4}, rank);
      barrier();  // without it the ranks may not know each other's memory yet
      call(t, rank, scatters);
      dist::sleep(50ms);
    });
    const std::string said = testing::internal::GetCapturedStderr();
    for (const auto* part : {"[distlab warn rank", scatters ? "scatter f32" : "broadcast f32",
                             "different roots", "DIST_DEBUG=detail"})
      EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

// Its parts are equally long, whatever the total length.
TEST(Mismatch, SizesOfWhichSegmentsFitEachOther) {
  REAL_RANKS_ONLY(checker_does);
  const ScopedEnv transport("DIST_TRANSPORT", "tcp");
  run_ranks(2, [](int rank) {
    Tensor t = zeros({(rank + 1) * 262144});
    const int other = 1 - rank;
    expect_error(Errc::mismatch,
                 {fmt::format("rank {} calls it with {} elements in all, but rank {} with {}", other,
                              (other + 1) * 262144, rank, t.numel())},
                 [&] { all_reduce(t, ReduceOp::sum, {.timeout = 3s, .algorithm = "ring_segmented"}); });
  });
}

TEST(Mismatch, SizesWithoutMessages) {
  REAL_RANKS_ONLY(checker_does);
  for (const int count : {4, 2000, 300000})
    run_ranks(2, [&](int rank) {
      Tensor t = zeros({(rank + 1) * count});
      expect_error(Errc::mismatch, {fmt::format("expects {} bytes from rank {}", t.nbytes(), 1 - rank)},
                   [&] { all_reduce(t, ReduceOp::sum, {.timeout = 3s}); });
    });
}

TEST(Mismatch, AnEarlyLeaverIsNoMismatch) {
  REAL_RANKS_ONLY(checker_does);
  testing::internal::CaptureStderr();
  run_ranks(3, [](int rank) {
    Tensor t = ones({3});
    if (rank == 1) return dist::sleep(50ms);  // and leaves without the all_reduce
    expect_error(Errc::peer_failed, {"rank 1 has left the job"}, [&] { all_reduce(t); });
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("never received"), std::string::npos) << said;
}

TEST(Mismatch, DifferentCollectivesAreAFinding) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        try {
          if (rank == 0)
            all_reduce(t, ReduceOp::sum, {.timeout = 3s});
          else
            barrier({.timeout = 3s});
          FAIL() << "the ranks are in different collectives";
        } catch (const Error& error) {
          for (const auto& part : told({"rank"}, {"; D2 mismatched collective: "}))
            EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
        }
      },
      finds({Code::mismatched_collective}));
}

TEST(Mismatch, DifferentCollectivesAreAFindingAlsoWhenOneRankHasLeft) {
  run_ranks(
      2,
      [](int rank) {
        Tensor t = zeros({4});
        barrier();
        if (rank == 1) return void(broadcast(t, 1));  // small: it is still in flight when this rank leaves
        expect_error(Errc::mismatch,
                     told({"rank 0: ", "mismatch_test.cpp:"},
                          {"rank 1 is in broadcast f32 but rank 0 is in all_reduce f32",
                           "; D2 mismatched collective: ", "fix: let every rank"}),
                     [&] { all_reduce(t, ReduceOp::sum, {.timeout = 3s}); });
      },
      finds({Code::mismatched_collective}));
}

}  // namespace
}  // namespace dist
