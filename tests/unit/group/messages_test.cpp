// Point-to-point: order, independence, tags, any source, and rendezvous.
#include <atomic>
#include <ctime>
#include <limits>
#include <set>

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

Tensor values(double value, std::int64_t count = 3) { return full({count}, value); }

TEST(Messages, RelayDoublesOnTheWay) {
  run_ranks(5, [](int rank) {
    Tensor t = values(1);
    if (rank > 0) recv(t, rank - 1);
    t.mul_(2);
    if (rank < 4) send(t, rank + 1);
    EXPECT_EQ(t.to_vector<int>()[0], 2 << rank);
  });
}

TEST(Messages, BothReceiveFirstThenSend) {
  for (const std::int64_t count : {0, 1, 1000, 300'000}) {
    run_ranks(2, [&](int rank) {
      Tensor in = values(-1, count);
      Work incoming = irecv(in, 1 - rank);
      Work outgoing = isend(values(rank, count), 1 - rank);
      incoming.wait();
      outgoing.wait();
      EXPECT_EQ(incoming.source_rank(), 1 - rank);
      EXPECT_TRUE(equal(in, values(1 - rank, count)));
    });
  }
}

TEST(Messages, RingShiftOfEveryLength) {
  for (const int n : {1, 2, 3, 5, 8}) {
    run_ranks(n, [&](int rank) {
      Tensor in = values(-1);
      Work outgoing = isend(values(rank), (rank + 1) % n);
      recv(in, (rank + n - 1) % n);
      outgoing.wait();
      EXPECT_EQ(in.to_vector<int>()[0], (rank + n - 1) % n);
    });
  }
}

TEST(Messages, FirstInFirstOutForOneTag) {
  run_ranks(2, [](int rank) {
    constexpr int many = 50;
    std::vector<Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < many; ++i) {
      tensors.push_back(values(rank == 0 ? i : -1, 1 + i * 37 % 2000));
      works.push_back(rank == 0 ? isend(tensors.back(), 1) : irecv(tensors.back(), 0));
    }
    for (auto& work : works) work.wait();
    for (int i = 0; i < many; ++i) EXPECT_EQ(max(tensors[static_cast<std::size_t>(i)]), i);
  });
}

TEST(Messages, TagsAreSeparate) {
  run_ranks(2, [](int rank) {
    Tensor a = values(rank == 0 ? 1 : 0), b = values(rank == 0 ? 2 : 0);
    if (rank == 0) {
      Work first = isend(a, 1, {.tag = 7}), second = isend(b, 1, {.tag = 8});
      first.wait();
      second.wait();
    } else {
      recv(b, 0, {.tag = 8});  // in the other order
      recv(a, 0, {.tag = 7});
      EXPECT_EQ(a.to_vector<int>()[0], 1);
      EXPECT_EQ(b.to_vector<int>()[0], 2);
    }
  });
}

TEST(Messages, AnySource) {
  run_ranks(5, [](int rank) {
    if (rank != 2) {
      send(values(rank), 2);
      return;
    }
    std::set<int> sources;
    for (int i = 0; i < 2; ++i) {
      Tensor t = values(-1);
      const Work work = recv(t);
      sources.insert(work.source_rank());
      EXPECT_EQ(t.to_vector<int>()[0], work.source_rank());
    }
    for (int i = 0; i < 2; ++i) {
      Tensor t = values(-1);
      Work work = recv(t, Options{.async_op = true});
      work.wait();
      sources.insert(work.source_rank());
    }
    EXPECT_EQ(sources, (std::set<int>{0, 1, 3, 4}));
  });
}

TEST(Messages, ToOneself) {
  run_ranks(2, [](int rank) {
    Tensor in = values(-1);
    Work outgoing = isend(values(rank), rank);
    recv(in, rank);
    outgoing.wait();
    EXPECT_EQ(in.to_vector<int>()[0], rank);
    expect_error(Errc::invalid_argument, {"blocking send to oneself", "messages_test.cpp"},
                 [&] { send(in, rank); });
  });
}

TEST(Messages, BatchOfSendsAndReceives) {
  run_ranks(4, [](int rank) {
    Tensor left = values(-1), right = values(-1);
    const int next = (rank + 1) % 4, before = (rank + 3) % 4;
    auto works = batch_isend_irecv({{P2P::isend, values(10 + rank), next, {}, 1},
                                    {P2P::isend, values(20 + rank), before, {}, 2},
                                    {P2P::irecv, left, before, {}, 1},
                                    {P2P::irecv, right, next, {}, 2}});
    ASSERT_EQ(works.size(), 4u);
    for (auto& work : works) work.wait();
    EXPECT_EQ(left.to_vector<int>()[0], 10 + before);
    EXPECT_EQ(right.to_vector<int>()[0], 20 + next);
  });
}

TEST(Messages, NothingOfABatchMovesWhenOneIsWrong) {
  run_ranks(2, [](int rank) {
    Tensor t = values(rank);
    expect_error(Errc::invalid_argument, {"batch_isend_irecv", "operations[1].peer = 9"}, [&] {
      batch_isend_irecv({{P2P::isend, t, 1 - rank}, {P2P::isend, t, 9}});
    });
    for (const Options& of_one : {Options{.tag = 5}, Options{.group_src = 0}, Options{.group_dst = 0}})
      expect_error(Errc::invalid_argument, {"batch_isend_irecv", "give each P2P its own peer and tag"}, [&] {
        batch_isend_irecv({{P2P::isend, t, 1 - rank}}, of_one);
      });
    Tensor in = values(-1);
    auto works = batch_isend_irecv({{P2P::isend, values(5), 1 - rank}, {P2P::irecv, in, 1 - rank}});
    for (auto& work : works) work.wait();
    EXPECT_EQ(in.to_vector<int>()[0], 5) << "the refused batch left nothing behind";
  });
}

TEST(Messages, ASendEndsWhenTheReceiveIsPosted) {
  run_ranks(2, [](int rank) {
    static std::atomic<bool> receiving;
    if (rank == 0) {
      receiving = false;
      barrier();
      send(values(1), 1);
      EXPECT_TRUE(receiving) << "a rendezvous send does not end before the receive is posted";
    } else {
      barrier();
      dist::sleep(100ms);
      receiving = true;
      Tensor t = values(0);
      recv(t, 0);
    }
  });
}

TEST(Messages, EagerSendsGoAhead) {
  const ScopedEnv eager("DIST_SEND", "eager");
  run_ranks(2, [](int rank) {
    Tensor in = values(-1);
    send(values(rank), 1 - rank);  // both send first: only works when small sends are buffered
    recv(in, 1 - rank);
    EXPECT_EQ(in.to_vector<int>()[0], 1 - rank);
  });
}

TEST(Messages, IndependentOfCollectivesOnTheSameGroup) {
  run_ranks(3, [](int rank) {
    Tensor in = values(-1), sum = values(rank);
    Work incoming = irecv(in, (rank + 2) % 3);
    all_reduce(sum);
    Work outgoing = isend(values(rank), (rank + 1) % 3);
    barrier();
    incoming.wait();
    outgoing.wait();
    EXPECT_EQ(in.to_vector<int>()[0], (rank + 2) % 3);
    EXPECT_EQ(sum.to_vector<int>()[0], 3);
  });
}

TEST(Messages, ADroppedWorkStillDelivers) {
  run_ranks(
      2,
      [](int rank) {
        if (rank == 0) {
          isend(values(42, 100'000), 1);  // no rank waits; the tensor is gone here too
          barrier();
        } else {
          barrier();
          Tensor t = values(0, 100'000);
          recv(t, 0);
          EXPECT_EQ(max(t), 42);
        }
      },
      finds({Code::never_waited}));
}

// A batch that was posted is not a call in which the rank is blocked: its group can be destroyed.
TEST(Messages, APostedBatchDoesNotHoldItsGroup) {
  REAL_RANKS_ONLY("the checker finds that no rank waits for it in time");
  run_ranks(2, [](int rank) {
    ProcessGroup both = new_group({0, 1});
    Tensor t = values(0, 4);
    Work posted;
    if (rank == 0) posted = batch_isend_irecv({{P2P::irecv, t, 1, both}}).front();
    const auto began = Clock::now();
    destroy_process_group(both);
    EXPECT_LT(Clock::now() - began, 5s);
    if (rank == 0) EXPECT_DIST_ERROR(posted.wait(), Errc::aborted, "its group was destroyed");
    barrier();  // a peer that has left the job would be the error
  });
}

TEST(Messages, AnErrorThatNobodyHasHeardIsTold) {
  REAL_RANKS_ONLY("the checker finds what is wrong before");
  testing::internal::CaptureStderr();
  run_ranks(2, [](int rank) {
    const Tensor t = values(0, 100'000);
    Work lost;
    if (rank == 0) lost = isend(t, 1);  // no rank receives it
    destroy_process_group();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("rank 0: "), std::string::npos) << said;
  EXPECT_NE(said.find("its Work was dropped: wait() would have thrown this"), std::string::npos) << said;
}

TEST(Messages, ProgressWithoutAnyoneWaiting) {
  run_ranks(2, [](int rank) {
    Tensor in = values(-1, 200'000);
    Work work = rank == 0 ? isend(values(7, 200'000), 1) : irecv(in, 0);
    const auto deadline = Clock::now() + 10s;
    while (!work.is_completed() && Clock::now() < deadline) dist::sleep(1ms);
    EXPECT_TRUE(work.is_completed());
    work.wait();
    if (rank == 1) {
      EXPECT_EQ(max(in), 7);
    }
  });
}

// More than the buffers in between can hold: the sender waits until the receiver takes it in.
TEST(Messages, AShortReceiveThatNobodyWaitsForTakesInTheOthers) {
  REAL_RANKS_ONLY("there messages take no room");
  const ScopedEnv eager("DIST_SEND", "eager");
  constexpr int messages = 2000;
  std::atomic<bool> all_sent = false;
  run_ranks(2, [&](int rank) {
    Tensor part = values(1, 1000), last = values(0, 1);
    if (rank == 0) {
      for (int i = 0; i < messages; ++i) send(part, 1, {.tag = 1});
      all_sent = true;
      send(values(2, 1), 1, {.tag = 2});
      return;
    }
    Work work = irecv(last, 0, {.tag = 2});
    for (const auto deadline = Clock::now() + 10s; !all_sent && Clock::now() < deadline;) dist::sleep(1ms);
    EXPECT_TRUE(all_sent);
    for (int i = 0; i < messages; ++i) recv(part, 0, {.tag = 1});
    work.wait();
    EXPECT_EQ(max(last), 2);
  });
}

TEST(Messages, DifferentDtypesAreAMismatch) {
  run_ranks(
      2,
      [](int rank) {
        const auto exchange = [&] {
          Tensor t = zeros({4}, rank == 0 ? DType::f32 : DType::i32);
          if (rank == 0)
            send(t, 1, {.timeout = 5s});
          else
            recv(t, 0, {.timeout = 5s});
        };
        expect_error(Errc::mismatch, told({"rank 0", "rank 1"}, {"rank 0 sends f32", "rank 1 expects i32"}),
                     exchange);
      },
      finds({Code::misfit_message}));
}

// What waits in one of a rank's queues, many times over.
enum class Queue { posted, unexpected, tags, of_two_ranks, batch };

std::string name_of(const testing::TestParamInfo<Queue>& info) {
  static constexpr const char* names[] = {"posted", "unexpected", "tags", "of_two_ranks", "batch"};
  return names[static_cast<int>(info.param)];
}

class LongQueue : public testing::TestWithParam<Queue> {
 protected:
  // Rank 2 gets `count` messages from rank 0, and from rank 1 where there are two senders.
  static void fill(int rank, int count) {
    Tensor t = ones({4});
    std::vector<Work> works;
    std::vector<P2P> batch;
    const auto sends = [&](bool with_tags = false) {
      for (int i = 0; i < count; ++i)
        works.push_back(isend(t, 2, {.tag = static_cast<std::uint64_t>(with_tags ? i : 0)}));
    };
    const auto receives = [&](int from, bool with_tags = false) {
      for (int i = 0; i < count; ++i)
        works.push_back(irecv(t, from, {.tag = static_cast<std::uint64_t>(with_tags ? i : 0)}));
    };
    const auto wait = [&] {
      for (Work& work : works) work.wait();
      works.clear();
    };
    switch (GetParam()) {
      case Queue::posted:
        if (rank == 2) receives(0);
        barrier();
        if (rank == 0) sends();
        break;
      case Queue::unexpected:
      case Queue::tags:
        if (rank == 0) sends(GetParam() == Queue::tags);
        barrier();
        if (rank == 2) receives(0, GetParam() == Queue::tags);
        break;
      case Queue::of_two_ranks:  // what was posted first comes last
        if (rank == 2) receives(0), receives(1);
        barrier();
        if (rank == 1) sends(), wait();
        barrier();
        if (rank == 0) sends();
        break;
      case Queue::batch:
        for (int i = 0; i < count && rank != 1; ++i)
          batch.push_back(rank == 0 ? P2P{P2P::isend, t, 2} : P2P{P2P::irecv, t, 0});
        if (rank != 1) works = batch_isend_irecv(batch);
        break;
    }
    wait();
    barrier();
  }
};
INSTANTIATE_TEST_SUITE_P(Of, LongQueue,
                         testing::Values(Queue::posted, Queue::unexpected, Queue::tags, Queue::of_two_ranks,
                                         Queue::batch),
                         name_of);

// Ten times as many messages take about ten times the processor time; if it grew with the square of their
// number, it would be a hundred times.
TEST_P(LongQueue, CostsEachMessageTheSame) {
  REAL_RANKS_ONLY("it is about real time");
  constexpr int few = 2000, many = 20000, tries = 2;
  run_ranks(3, [](int rank) {
    const auto best = [&](int count) {
      std::clock_t least = std::numeric_limits<std::clock_t>::max();
      for (int i = 0; i < tries; ++i) {
        barrier();
        const std::clock_t begin = std::clock();
        fill(rank, count);
        least = std::min(least, std::clock() - begin);
      }
      return static_cast<double>(least) / CLOCKS_PER_SEC;
    };
    fill(rank, few);
    double ratio = std::numeric_limits<double>::max();
    for (int i = 0; i < tries; ++i) {  // all ranks measure, rank 2 compares
      const double of_few = best(few);
      ratio = std::min(ratio, best(many) / of_few);
    }
    if (rank == 2) {
      EXPECT_LT(ratio, 30);
    }
  });
}

}  // namespace
}  // namespace dist
