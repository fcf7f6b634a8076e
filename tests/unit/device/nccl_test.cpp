// The nccl backend on a fake NCCL and the fake device: everything but NCCL itself; what goes wrong is in
// nccl_failures_test.cpp.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/backend/nccl/communicator.h"
#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_nccl.h"
#include "support/ranks.h"
#include "unit/device/device_case.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

class NcclSweep : public testing::TestWithParam<int> {};

TEST_P(NcclSweep, GivesWhatTheHostGives) {
  for (const auto rest : {std::chrono::microseconds(0), std::chrono::microseconds(20)}) {
    const FakeNcclGuard fake(
        FakeDeviceOptions{.count = 3, .longest_rest = rest, .caches = rest > std::chrono::microseconds(0)});
    run_ranks(
        GetParam(),
        [&](int rank) {
          for (const DType dtype : swept_dtypes())
            for (const std::int64_t count : swept_counts({0, 1, 1000}))
              sweep_collectives(device_of(rank), count, dtype, {}, Sweep::without_bit_operations);
          sweep_collectives(device_of(rank), 1000, DType::f32, {.async_op = true},
                            Sweep::without_bit_operations);
        },
        on_nccl());
    EXPECT_EQ(fake->comms_alive(), 0);
    EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
  }
}

INSTANTIATE_TEST_SUITE_P(Device, NcclSweep, testing::Values(1, 2, 3, 5));

class NcclTest : public testing::Test {
 protected:
  const FakeNcclGuard fake;
  const Device gpu = cuda(0);
};

TEST_F(NcclTest, WorkBeforeAndAfterACallIsOrderedByTheStream) {
  run_ranks(
      3,
      [&](int rank) {
        const Tensor factor = full({100}, 10, DType::f32, gpu);
        Tensor t = zeros({100}, DType::f32, gpu);
        for (int i = 0; i < 5; ++i) {
          t.fill_(rank + i);
          all_reduce(t);
          t.mul_(factor);
          EXPECT_EQ(sum(t), 100 * 10 * (3 + 3 * i));
        }
      },
      on_nccl());
}

TEST_F(NcclTest, ListsAreOneCallWhereTheyCanBe) {
  run_ranks(
      1,
      [&](int) {
        Tensor out = zeros({4}, DType::f32, gpu), in = ones({4}, DType::f32, gpu);
        all_gather_into_tensor(out, in);
        reduce_scatter_tensor(out, in);
        std::vector<Tensor> outs{zeros({4}, DType::f32, gpu)};
        all_to_all(outs, {in});
      },
      on_nccl());
  EXPECT_EQ(fake->groups(), (std::vector<std::string>{"all_gather", "reduce_scatter"}));
}

// A rank's calls of NCCL must not depend on the addresses of its tensors.
TEST(NcclLists, LieBehindEachOtherOnSomeRanksAndApartOnOthers) {
  const FakeNcclGuard fake(FakeDeviceOptions{.caches = true});
  run_ranks(
      2,
      [&](int rank) {
        const Device gpu = cuda(0);
        const auto list_of = [&](double value) {
          const Tensor whole = full({2000}, value, DType::i64, gpu);
          std::vector<Tensor> list{whole.narrow(0, 1000), whole.narrow(1000, 1000)};
          if (rank == 1) list[1] = full({1000}, value, DType::i64, gpu);
          return list;
        };
        auto all = list_of(0);
        all_gather(all, full({1000}, rank + 1, DType::i64, gpu));
        EXPECT_TRUE(equal(all[0], full({1000}, 1, DType::i64)));
        EXPECT_TRUE(equal(all[1], full({1000}, 2, DType::i64)));
        Tensor out = zeros({1000}, DType::i64, gpu);
        auto list = list_of(rank + 1);
        list[static_cast<std::size_t>(1 - rank)].fill_(10 * (rank + 1));
        reduce_scatter(out, list);
        EXPECT_TRUE(equal(out, full({1000}, rank == 0 ? 21 : 12, DType::i64))) << out.str();
      },
      on_nccl());
  EXPECT_EQ(fake->groups(),
            (std::vector<std::string>{"all_gather", "all_gather", "reduce_scatter", "reduce_scatter"}));
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

TEST_F(NcclTest, WhatARankSendsManyIsOneOperation) {
  run_ranks(
      3,
      [&](int rank) {
        Tensor out = zeros({1 + rank}, DType::f32, gpu);
        std::vector<Tensor> list, all;
        for (int r = 0; r < 3; ++r) list.push_back(full({1 + r}, r, DType::f32, gpu));
        for (int r = 0; r < 3; ++r) all.push_back(zeros({1 + r}, DType::f32, gpu));
        all_gather(all, full({1 + rank}, rank, DType::f32, gpu));
        for (int r = 0; r < 3; ++r) EXPECT_EQ(sum(all[static_cast<std::size_t>(r)]), r * (1 + r));
        reduce_scatter(out, list);
        EXPECT_EQ(sum(out), 3 * rank * (1 + rank));
      },
      on_nccl());
  const auto groups = fake->groups();
  ASSERT_EQ(groups.size(), 6U);
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "broadcast broadcast broadcast"), 3);
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "reduce reduce reduce"), 3);
}

TEST_F(NcclTest, MessagesBarriersAndCpuTensorsNeedNoNccl) {
  run_ranks(
      2,
      [&](int rank) {
        const Tensor mine = full({10}, rank + 1, DType::f32, gpu);
        Tensor theirs = zeros({10}, DType::f32, gpu), here = ones({3});
        Work got = irecv(theirs, 1 - rank);
        isend(mine, 1 - rank).wait();
        got.wait();
        EXPECT_EQ(sum(theirs), 10 * (2 - rank));
        barrier();
        all_reduce(here, ReduceOp::sum);
        EXPECT_EQ(sum(here), 6);
      },
      on_nccl());
}

class NcclMessages : public NcclTest {
 protected:
  const ScopedEnv by_nccl{"DIST_NCCL_MESSAGES", "1"};
};

TEST_F(NcclMessages, GoByNccl) {
  run_ranks(
      3,
      [&](int rank) {
        const int next = (rank + 1) % 3, before = (rank + 2) % 3;
        for (int i = 0; i < 5; ++i) {
          const Tensor mine = full({10 + i}, rank + i, DType::f32, gpu);
          Tensor theirs = zeros({10 + i}, DType::f32, gpu);
          Work got = irecv(theirs, before);
          isend(mine, next).wait();
          got.wait();
          EXPECT_EQ(got.source_rank(), before);
          EXPECT_EQ(sum(theirs), (10 + i) * (before + i));
        }
        Tensor t = full({10}, rank, DType::f32, gpu), none = zeros({0}, DType::f32, gpu);
        if (rank == 0) send(t, 1);
        if (rank == 1) {
          EXPECT_EQ(recv(t, 0).source_rank(), 0);
          EXPECT_EQ(sum(t), 0);
        }
        if (rank == 0) send(none, 1);
        if (rank == 1) recv(none, 0);
      },
      on_nccl());
  const auto groups = fake->groups();
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "send"), 16);
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "recv"), 16);
  EXPECT_EQ(fake->comms_alive(), 0);
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

// Neither direction waits for the other, nor for a collective.
TEST_F(NcclMessages, ProgressIndependently) {
  run_ranks(
      2,
      [&](int rank) {
        const Tensor mine = full({10}, rank + 1, DType::f32, gpu);
        Tensor theirs = zeros({10}, DType::f32, gpu), t = ones({10}, DType::f32, gpu);
        Work got = irecv(theirs, 1 - rank);
        Work put;
        if (rank == 0) put = isend(mine, 1);
        all_reduce(t);
        EXPECT_EQ(sum(t), 20);
        if (rank == 1) put = isend(mine, 0);
        got.wait();
        put.wait();
        EXPECT_EQ(sum(theirs), 10 * (2 - rank));
        const auto both = batch_isend_irecv({{P2P::irecv, theirs, 1 - rank}, {P2P::isend, t, 1 - rank}});
        for (Work work : both) work.wait();
        EXPECT_EQ(sum(theirs), 20);
      },
      on_nccl());
  EXPECT_EQ(fake->comms_alive(), 0);
}

// A lane's first message comes alone, because NCCL connects its two ranks then.
TEST_F(NcclMessages, OfABatchAreOneGroup) {
  constexpr int ranks = 4, rounds = 3;
  run_ranks(
      ranks,
      [&](int rank) {
        for (int i = 0; i < rounds; ++i) {
          std::vector<P2P> batch;
          std::vector<Tensor> got;
          for (int peer = 0; peer < ranks; ++peer) {
            if (peer == rank) continue;
            for (int k = 0; k < 2; ++k) {
              got.push_back(zeros({10 + k}, DType::f32, gpu));
              const Tensor mine = full({10 + k}, 100 * i + 10 * rank + peer + k, DType::f32, gpu);
              batch.push_back({P2P::irecv, got.back(), peer});
              batch.push_back({P2P::isend, mine, peer});
            }
          }
          std::size_t at = 0;
          auto works = batch_isend_irecv(batch);
          for (Work& work : works) work.wait();
          for (int peer = 0; peer < ranks; ++peer) {
            if (peer == rank) continue;
            for (int k = 0; k < 2; ++k) {
              EXPECT_EQ(works[2 * at].source_rank(), peer);
              EXPECT_EQ(sum(got[at++]), (10 + k) * (100 * i + 10 * peer + rank + k)) << "round " << i;
            }
          }
        }
      },
      on_nccl());
  std::map<std::string, std::ptrdiff_t> groups;
  for (const std::string& each : fake->groups()) ++groups[each.size() > 4 ? "of many" : each];
  EXPECT_EQ(groups["of many"], ranks * (rounds - 1)) << "one per rank and batch, but for the first";
  EXPECT_EQ(groups["send"] + groups["recv"], ranks * (ranks - 1) * 4) << "the first batch, one by one";
  EXPECT_EQ(fake->comms_alive(), 0);
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

// Rank 0 sends to both others at once; rank 2 takes its message only after one that comes by way of rank 1.
TEST_F(NcclMessages, OfABatchDoNotWaitForEachOther) {
  run_ranks(
      3,
      [&](int rank) {
        for (int i = 0; i < 3; ++i) {
          Tensor t = full({10}, rank + i, DType::f32, gpu), other = zeros({10}, DType::f32, gpu);
          if (rank == 0)
            for (Work& work : batch_isend_irecv({{P2P::isend, t, 1}, {P2P::isend, t, 2}})) work.wait();
          if (rank == 1) {
            recv(t, 0);
            EXPECT_EQ(sum(t), 10 * i);
            send(t, 2);
          }
          if (rank == 2) {
            recv(other, 1);
            recv(t, 0);
            EXPECT_TRUE(equal(t, other));
            EXPECT_EQ(sum(t), 10 * i);
          }
        }
      },
      on_nccl());
  const auto groups = fake->groups();
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "send send"), 2);
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

// One of its lanes is broken, and one message does not go by NCCL.
TEST_F(NcclMessages, OfABatchFailOneByOne) {
  run_ranks(
      3,
      [&](int rank) {
        const Tensor t = full({10}, 1 + rank, DType::f32, gpu);
        Tensor got = zeros({10}, DType::f32, gpu), here = full({3}, 1 + rank);
        if (rank == 0) {
          Work nobody = isend(t, 1, {.timeout = std::chrono::milliseconds(200)});
          EXPECT_DIST_ERROR(nobody.wait(), Errc::timeout, "has not connected the 2 ranks");
          send(t, 2);
          auto works = batch_isend_irecv(
              {{P2P::isend, t, 1}, {P2P::isend, t, 2}, {P2P::isend, here, 2, {}, 4}, {P2P::isend, t, 2}});
          EXPECT_DIST_ERROR(works[0].wait(), Errc::aborted, "earlier collective");
          for (std::size_t i = 1; i < works.size(); ++i) works[i].wait();
        }
        for (int i = 0; rank == 2 && i < 3; ++i) {
          recv(got, 0);
          EXPECT_EQ(sum(got), 10);
        }
        if (rank == 2) recv(here, 0, {.tag = 4});
        EXPECT_EQ(sum(here), rank == 1 ? 6 : 3);
        barrier();
      },
      on_nccl());
  const auto groups = fake->groups();
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "send send"), 1);
  EXPECT_EQ(fake->comms_alive(), 0);
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

TEST_F(NcclMessages, WithATagDoNotGoByNccl) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, gpu);
        if (rank == 0) send(t, 1, {.tag = 5});
        if (rank == 1) {
          EXPECT_EQ(recv(t, {.tag = 5}).source_rank(), 0);
          EXPECT_EQ(sum(t), 0);
          EXPECT_DIST_ERROR(recv(t), Errc::unsupported, "NCCL receives only from a rank that is named");
        }
      },
      on_nccl());
  EXPECT_EQ(fake->groups(), std::vector<std::string>{});
}

TEST_F(NcclMessages, OneThatNobodySendsEndsByItsTimeout) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, gpu);
        if (rank == 1)
          EXPECT_DIST_ERROR(recv(t, 0, {.timeout = std::chrono::milliseconds(200)}), Errc::timeout,
                            "rank 0 has not begun it");
        dist::sleep(std::chrono::milliseconds(500));
        all_reduce(t);  // goes on
        EXPECT_EQ(sum(t), 10);
      },
      on_nccl());
  EXPECT_EQ(fake->comms_alive(), 0);
}

TEST_F(NcclTest, GroupsHaveCommunicatorsOfTheirOwn) {
  run_ranks(
      4,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, gpu), u = t.clone();
        const ProcessGroup half = split_group(rank % 2, rank);
        all_reduce(t, ReduceOp::sum, {.group = half});
        all_reduce(u);
        EXPECT_EQ(sum(t), 10 * (rank % 2 == 0 ? 2 : 4));
        EXPECT_EQ(sum(u), 60);
      },
      on_nccl());
  EXPECT_EQ(fake->comms_alive(), 0);
}

TEST_F(NcclTest, GroupsAreSplitOffOneThatIsConnected) {
  run_ranks(
      4,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, gpu);
        Work pending = all_reduce(t, ReduceOp::sum, {.async_op = true});
        const ProcessGroup half = split_group(rank % 2, -rank), some = new_group({3, 0, 2}),
                           none = split_group(rank == 1 ? -1 : 5, 0);
        pending.wait();
        EXPECT_EQ(sum(t), 60);
        t.fill_(half.rank());
        broadcast(t, rank % 2, {.group = half});  // its second, as keys fall
        EXPECT_EQ(sum(t), 10);
        if (some.is_member()) {
          std::vector<Tensor> all(3, Tensor());
          for (Tensor& each : all) each = zeros({1}, DType::f32, gpu);
          all_gather(all, full({1}, rank, DType::f32, gpu), {.group = some});
          EXPECT_EQ(sum(all[0]) * 100 + sum(all[1]) * 10 + sum(all[2]), 302);
        }
        if (rank != 1) {
          t.fill_(1);
          all_reduce(t, ReduceOp::sum, {.group = none});
          EXPECT_EQ(sum(t), 30);
        }
        const ProcessGroup quarter = split_group(half.rank(), 0, {.parent = half});
        all_reduce(t, ReduceOp::sum, {.group = quarter});
      },
      on_nccl());
  EXPECT_EQ(fake->ids_made(), 1U);
  EXPECT_EQ(fake->comms_alive(), 0);
  EXPECT_EQ(fake->misuse(), std::vector<std::string>{});
}

TEST_F(NcclTest, GroupsOfAnOldNcclHaveIdsOfTheirOwn) {
  fake->be_too_old_to_split();
  run_ranks(
      2,
      [&](int) {
        Tensor t = ones({10}, DType::f32, gpu);
        all_reduce(t);
        const ProcessGroup pair = new_group({0, 1});
        all_reduce(t, ReduceOp::sum, {.group = pair});
        EXPECT_EQ(sum(t), 40);
      },
      on_nccl());
  EXPECT_EQ(fake->ids_made(), 2U);
}

TEST_F(NcclTest, AGroupOfOneThatIsNotConnectedHasAnIdOfItsOwn) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({10}, rank, DType::f32, gpu);
        const ProcessGroup pair = new_group({0, 1});
        all_reduce(t, ReduceOp::sum, {.group = pair});
        all_reduce(t);
        EXPECT_EQ(sum(t), 20);
      },
      on_nccl());
  EXPECT_EQ(fake->ids_made(), 2U);
}

TEST(NcclDevices, AGroupWorksOnTheDeviceOfTheOneItWasMadeOf) {
  const FakeNcclGuard fake(FakeDeviceOptions{.count = 4});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({10}, DType::f32, cuda(rank)), elsewhere = ones({10}, DType::f32, cuda(2 + rank));
        all_reduce(t);
        const ProcessGroup pair = new_group({0, 1});
        EXPECT_DIST_ERROR(all_reduce(elsewhere, ReduceOp::sum, {.group = pair}), Errc::invalid_argument,
                          "made of a group that works on cuda:");
      },
      on_nccl());
  EXPECT_EQ(fake->comms_alive(), 0);
}

TEST_F(NcclTest, WhatNcclHasNotIsRefusedBeforeAnythingMoves) {
  run_ranks(
      2,
      [&](int) {
        Tensor t = ones({4}, DType::i32, gpu), here = ones({4}).to(DType::i32),
               b = ones({4}, DType::boolean, gpu);
        EXPECT_DIST_ERROR(all_reduce(t, ReduceOp::bxor), Errc::invalid_argument, "NCCL has no bxor");
        EXPECT_DIST_ERROR(all_reduce(t, ReduceOp::sum, {.algorithm = "ring"}), Errc::invalid_argument,
                          "leaves the algorithm to NCCL");
        all_reduce(here, ReduceOp::bxor);
        EXPECT_EQ(sum(here), 0);
        all_reduce(b, ReduceOp::product);
        EXPECT_EQ(sum(b.to(DType::f32)), 4);
      },
      on_nccl());
}

// A launch takes about ten microseconds, a pause a millisecond.
TEST_F(NcclTest, NobodyRestsWhileNcclLaunches) {
  nccl::Communicator alone(nccl::library(), gpu, fake->begin(gpu, 1, fake->make_id(), 0), 0, 1);
  fake->launch_for(3);
  int rests = 0;
  for (int i = 0; i < 100; ++i)
    alone.run([](nccl::Library&, nccl::Comm) {}, {.look = [&] { ++rests; }, .doing = ""});
  EXPECT_EQ(rests, 0);
}

// NCCL itself, without a GPU: the library is there, and has every function that is called.
TEST(NcclLibrary, IsFoundWithAllItsFunctions) {
  try {
    const ScopedEnv asked("NCCL_COMM_BLOCKING", "1");
    EXPECT_EQ(nccl::open_library()->version().substr(0, 2), "2.");
    EXPECT_STREQ(std::getenv("NCCL_COMM_BLOCKING"), "0") << "no call of NCCL may block";
  } catch (const Error& error) {
    const std::string why = error.what();
    EXPECT_EQ(why.find("this NCCL has no"), std::string::npos) << why;
    GTEST_SKIP() << why;
  }
}

TEST(AutoBackend, IsDecidedByWhatTheRanksShare) {
  for (const int ranks : {2, 3}) {
    const FakeNcclGuard fake(FakeDeviceOptions{.count = 2});
    const std::string backend = ranks == 2 ? "nccl" : "cuda";
    run_ranks(ranks, [&](int rank) {
      EXPECT_EQ(get_backend(), backend);
      EXPECT_EQ(get_device(), cuda(rank % 2));
      Tensor t = full({100}, rank + 1, DType::f32, get_device());
      all_reduce(t);
      EXPECT_EQ(sum(t), ranks == 2 ? 300 : 600);
      EXPECT_EQ(new_group({0, 1}, {.backend = "auto"}).backend(), backend);
    });
  }
}

}  // namespace
}  // namespace dist::test
