// Several threads in one rank: what they may do at once, and what becomes of them when the rank leaves.
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "dist/group/rank_context.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
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

}  // namespace
}  // namespace dist
