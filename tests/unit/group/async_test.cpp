// Asynchronous collectives: order, mixing with synchronous ones, errors in wait().

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::finds;
using test::run_ranks;
using namespace std::chrono_literals;

TEST(Async, ManyInFlightKeepTheirOrder) {
  for (const int n : {1, 2, 3, 5, 8}) {
    run_ranks(n, [&](int rank) {
      std::vector<Tensor> tensors;
      std::vector<Work> works;
      for (int i = 0; i < 40; ++i) {
        tensors.push_back(full({1 + i * 61 % 3000}, rank + i));
        works.push_back(i % 3 == 2 ? broadcast(tensors.back(), i % n, {.async_op = true})
                                   : all_reduce(tensors.back(), ReduceOp::sum, {.async_op = true}));
      }
      for (auto& work : works) work.wait();
      for (int i = 0; i < 40; ++i) {
        const double want = i % 3 == 2 ? i % n + i : n * (n - 1) / 2 + n * i;
        EXPECT_EQ(max(tensors[static_cast<std::size_t>(i)]), want) << i;
      }
    });
  }
}

constexpr auto one_tensor_twice =
    "one tensor in two operations at once is correct only on these backends; the checker reports D8";

TEST(Async, ASynchronousCallQueuesBehind) {
  REAL_RANKS_ONLY(one_tensor_twice);
  run_ranks(3, [](int rank) {
    Tensor t = full({50'000}, rank);
    Work first = all_reduce(t, ReduceOp::sum, {.async_op = true});
    all_reduce(t);  // the same tensor: only right when the first is over
    EXPECT_TRUE(first.is_completed());
    EXPECT_EQ(max(t), 9);
    first.wait();
    first.wait();  // as often as one likes
  });
}

TEST(Async, ChainOnOneTensor) {
  REAL_RANKS_ONLY(one_tensor_twice);
  run_ranks(4, [](int rank) {
    Tensor t = full({10}, rank == 0 ? 1 : 0);
    std::vector<Work> works;
    for (int i = 0; i < 5; ++i) works.push_back(all_reduce(t, ReduceOp::sum, {.async_op = true}));
    works.back().wait();
    EXPECT_EQ(max(t), 256);
    for (auto& work : works) work.wait();
  });
}

TEST(Async, WaitGivesUpButTheOperationGoesOn) {
  run_ranks(2, [](int rank) {
    Tensor t = full({4}, rank + 1);
    if (rank == 1) dist::sleep(300ms);
    Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
    if (rank == 0) {
      EXPECT_FALSE(work.is_completed());
      expect_error(Errc::timeout, {"rank 0", "all_reduce #0 (4 f32)", "async_test.cpp", "50 ms"},
                   [&] { work.wait(50ms); });
    }
    work.wait();
    EXPECT_TRUE(work.is_completed());
    EXPECT_EQ(max(t), 3);
  });
}

TEST(Async, WaitForAMessageGivesUpToo) {
  run_ranks(2, [](int rank) {
    Tensor t = full({4}, 9);
    if (rank == 0) {
      Tensor in = zeros({4});
      Work work = irecv(in, 1);
      expect_error(Errc::timeout, {"rank 0", "recv #0", "50 ms: it waits for rank 1"},
                   [&] { work.wait(50ms); });
      barrier();
      work.wait();
      EXPECT_EQ(max(in), 9);
    } else {
      barrier();
      send(t, 0);
    }
  });
}

TEST(Async, DestroyWaitsForWhatIsPending) {
  run_ranks(
      3,
      [](int rank) {
        std::vector<Tensor> tensors;
        std::vector<Work> works;
        for (int i = 0; i < 5; ++i) {
          tensors.push_back(full({100'000}, rank));
          works.push_back(all_reduce(tensors.back(), ReduceOp::max, {.async_op = true}));
        }
        Tensor never = zeros({1});
        Work unmatched = irecv(never, (rank + 1) % 3);
        destroy_process_group();
        for (auto& work : works) EXPECT_TRUE(work.is_completed());
        for (const auto& t : tensors) EXPECT_EQ(max(t), 2);
        EXPECT_TRUE(works[0].is_success());
        EXPECT_EQ(works[0].exception(), nullptr);
        EXPECT_FALSE(unmatched.is_success());
        EXPECT_NE(unmatched.exception(), nullptr);
        try {
          unmatched.wait();
          ADD_FAILURE() << "no rank sent anything";
        } catch (
            const Error& error) {  // by this rank's destroy, or by that of the other, which may come first
          const std::string text = error.what();
          const bool destroyed = error.code() == Errc::aborted && text.find("destroyed") != std::string::npos;
          const bool left =
              error.code() == Errc::peer_failed && text.find("has left the job") != std::string::npos;
          EXPECT_TRUE(destroyed || left) << text;
        }
      },
      finds({check::Code::deadlock}));  // of the receive
}

TEST(Async, WorksOfEveryKind) {
  run_ranks(3, [](int rank) {
    const Options async{.async_op = true};
    Tensor out = zeros({1}), all = zeros({3}), mine = full({1}, rank), three = full({3}, rank);
    std::vector<Tensor> list, empty_list;
    for (int r = 0; r < 3; ++r) list.push_back(full({1}, r + 10));
    scatter(out, rank == 1 ? list : empty_list, 1, async).wait();
    EXPECT_EQ(out.item<int>(), 10 + rank);
    std::vector<Tensor> gathered = rank == 2 ? list : empty_list;
    gather(mine, gathered, 2, async).wait();
    if (rank == 2) {
      EXPECT_EQ(gathered[1].item<int>(), 1);
    }
    all_gather_into_tensor(all, mine, async).wait();
    EXPECT_EQ(all.to_vector<int>(), (std::vector<int>{0, 1, 2}));
    reduce_scatter_tensor(out, three, ReduceOp::sum, async).wait();
    EXPECT_EQ(out.item<int>(), 3);
    all_to_all_single(all, three, {}, {}, async).wait();
    EXPECT_EQ(all.to_vector<int>(), (std::vector<int>{0, 1, 2}));
    reduce(mine, 0, ReduceOp::sum, async).wait();
    if (rank == 0) {
      EXPECT_EQ(mine.item<int>(), 3);
    }
    barrier(async).wait();
  });
}

}  // namespace
}  // namespace dist
