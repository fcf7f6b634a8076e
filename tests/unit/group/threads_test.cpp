// Several threads in one rank: what they may do at once, and what becomes of them when the rank leaves.
#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "dist/group/rank_context.h"
#include "dist/store/store.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
using test::run_unjoined;
using namespace std::chrono_literals;

constexpr auto no_threads = "a simulated rank has one thread";
constexpr auto until_it_stands = 100ms;

// A thread of this rank.
template <class F>
std::thread of_this_rank(const F& fn) {
  return std::thread([&context = rank_context(), fn] {
    const RankContextGuard guard(context);
    fn();
  });
}

TEST(Threads, LeavingWaitsForTheirCollectivesAndSends) {
  REAL_RANKS_ONLY(no_threads);
  for (const bool collective : {true, false})
    run_ranks(2, [&](int rank) {
      Tensor t = full({4}, rank + 1);
      if (rank == 1) {
        dist::sleep(3 * until_it_stands);
        collective ? all_reduce(t) : recv(t, 0);
        EXPECT_EQ(max(t), collective ? 3 : 1);
        return;
      }
      std::thread other = of_this_rank([&] { collective ? all_reduce(t) : send(t, 1); });
      dist::sleep(until_it_stands);
      destroy_process_group();
      other.join();
      EXPECT_EQ(max(t), collective ? 3 : 1);
    });
}

using Receive = void (*)(Tensor& t);
class ReceiveOfAThread : public testing::TestWithParam<Receive> {};
INSTANTIATE_TEST_SUITE_P(Ways, ReceiveOfAThread,
                         testing::Values([](Tensor& into) { recv(into, 1); },
                                         [](Tensor& into) { recv(into); },
                                         [](Tensor& into) { irecv(into, 1).wait(); },
                                         [](Tensor& into) { irecv(into, 1).wait(10s); }));

TEST_P(ReceiveOfAThread, EndsWhenTheRankLeaves) {
  REAL_RANKS_ONLY(no_threads);
  run_ranks(2, [](int rank) {
    if (rank == 1) return dist::sleep(3 * until_it_stands);
    std::thread other = of_this_rank([] {
      Tensor t = zeros({4});
      expect_error(Errc::aborted, {"rank 0", "recv", "this rank is leaving the job"}, [&] { GetParam()(t); });
    });
    dist::sleep(until_it_stands);
    destroy_process_group();
    other.join();
  });
}

// More calls than the flight recorder keeps.
TEST(Threads, AReceiveThatBeganLongAgoIsEndedToo) {
  REAL_RANKS_ONLY(no_threads);
  std::latch rank_0_has_left(1);
  run_ranks(2, [&](int rank) {
    Tensor mine = zeros({4});
    const auto many = [&] {
      for (int i = 0; i < 600; ++i) all_reduce(mine);
    };
    if (rank == 1) {
      many();
      return rank_0_has_left.wait();
    }
    std::thread other = of_this_rank([] {
      Tensor t = zeros({4});
      expect_error(Errc::aborted, {"rank 0", "recv", "this rank is leaving the job"}, [&] { recv(t, 1); });
    });
    dist::sleep(until_it_stands);
    many();
    destroy_process_group();
    rank_0_has_left.count_down();
    other.join();
  });
}

TEST(Threads, TwoInCollectivesOfOneGroupAreRefused) {
  REAL_RANKS_ONLY(no_threads);
  run_ranks(2, [](int rank) {
    Tensor t = full({4}, rank), other_t = full({4}, 1);
    const ProcessGroup own = new_group({0, 1});
    std::thread other =
        of_this_rank([&] { rank == 0 ? void(all_reduce(t)) : dist::sleep(3 * until_it_stands); });
    dist::sleep(until_it_stands);
    if (rank == 0)
      for (const bool async : {false, true})
        expect_error(Errc::invalid_argument, {"another thread", "the default group", "new_group"},
                     [&] { all_reduce(other_t, ReduceOp::sum, {.async_op = async}).wait(); });
    all_reduce(other_t, ReduceOp::sum, {.group = own});  // another group's may go on meanwhile
    EXPECT_EQ(max(other_t), 2);
    other.join();
    if (rank == 1) all_reduce(t);
    EXPECT_EQ(max(t), 1);
  });
}

// From the moment when a thread finds the group until the flight recorder knows its call, only the group's
// gate says that a thread uses the group.
TEST(Threads, CallsThatMeetTheEndOfTheirGroupSaySo) {
  REAL_RANKS_ONLY(no_threads);
  constexpr int rounds = 100;
  for (const bool job_ends : {false, true})
    run_unjoined(1, [&](int, const std::shared_ptr<Store>& store) {
      for (int round = 0; round < rounds; ++round) {
        init_process_group({.rank = 0,
                            .world_size = 1,
                            .store = std::make_shared<PrefixStore>(std::to_string(round), store)});
        const ProcessGroup group = new_group({0});
        std::atomic<int> calls{0};
        const auto until_it_is_gone = [&](const auto& call) {
          return of_this_rank([&call] {
            expect_error(Errc::not_initialized, {}, [&] {
              for (;;) call();
            });
          });
        };
        Tensor t = ones({4});
        const auto reduce_it = [&] { all_reduce(t, {.group = group}), ++calls; };
        const auto ask = [&] { get_world_size(job_ends ? ProcessGroup() : group); };
        std::thread other = until_it_is_gone(reduce_it), third = until_it_is_gone(ask);
        while (calls < 20) std::this_thread::yield();
        destroy_process_group(job_ends ? ProcessGroup() : group);
        other.join();
        third.join();
        if (!job_ends) destroy_process_group();
        EXPECT_FALSE(is_initialized());
      }
    });
}

TEST(Threads, TwoThatDestroyOneGroup) {
  REAL_RANKS_ONLY(no_threads);
  run_ranks(1, [](int) {
    for (int round = 0; round < 20; ++round) {
      const ProcessGroup group = new_group({0});
      std::atomic<int> destroyed{0}, refused{0};
      const auto destroy = [&] {
        try {
          destroy_process_group(group);
          ++destroyed;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), Errc::not_initialized) << error.what();
          ++refused;
        }
      };
      std::thread other = of_this_rank(destroy);
      destroy();
      other.join();
      EXPECT_EQ(destroyed, 1);
      EXPECT_EQ(refused, 1);
    }
  });
}

TEST(Threads, OneThatARankMakesIsToldThatItBelongsToNone) {
  REAL_RANKS_ONLY(no_threads);
  run_ranks(1, [](int) {
    std::thread([] {
      expect_error(Errc::not_initialized,
                   {"this thread does not belong to a rank", "the rank's own function"}, [] { get_rank(); });
    }).join();
  });
  EXPECT_DIST_ERROR(get_rank(), Errc::not_initialized, "call init_process_group first");
}

}  // namespace
}  // namespace dist
