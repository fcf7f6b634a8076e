// What goes wrong with NCCL ends with an error that says what to do, and never hangs.
#include <atomic>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "dist/backend/nccl/communicator.h"
#include "dist/backend/nccl/explain.h"
#include "dist/core/fail.h"
#include "dist/core/sanitizer.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_nccl.h"
#include "support/process_ranks.h"
#include "support/ranks.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

void expect_refused(Tensor& t) {
  expect_error(Errc::aborted, {"earlier collective", "has not ended on cuda:0 in 200 ms"},
               [&] { all_reduce(t); });
}

class NcclFailures : public testing::Test {
 protected:
  // Expects that the communicators that were stuck end.
  void expect_comms_end() {
    const Deadline deadline = Deadline::after(std::chrono::seconds(10));
    while (fake->comms_alive() > 0 && !deadline.passed()) dist::sleep(std::chrono::milliseconds(1));
    EXPECT_EQ(fake->comms_alive(), 0);
  }

  // Rank 0 alone makes a collective, which times out; `expect_refusal` makes the next one.
  void run_one_that_does_not_end(const std::function<void(Tensor&)>& expect_refusal) {
    run_ranks(
        2,
        [&](int rank) {
          Tensor t = ones({4}, DType::f32, gpu);
          all_reduce(t);
          EXPECT_EQ(sum(t), 8);
          if (rank == 0) {
            all_reduce(t, ReduceOp::sum, {.timeout = std::chrono::milliseconds(200)});
            dist::sleep(std::chrono::milliseconds(500));
            expect_refusal(t);
            (void)sum(t);  // nothing waits any more
          }
          dist::sleep(std::chrono::milliseconds(rank == 0 ? 0 : 1000));
        },
        on_nccl());
  }

  const FakeNcclGuard fake;
  const Device gpu = cuda(0);
};

TEST_F(NcclFailures, RanksThatShareAGpuAreToldWhatToDo) {
  fake->refuse_one_gpu(true);
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int) {
                          Tensor t = ones({4}, DType::f32, gpu);
                          all_reduce(t);
                        },
                        on_nccl()),
                    Errc::internal, "DIST_NCCL_SHARE_GPU=1");
  EXPECT_EQ(fake->comms_alive(), 0);
}

TEST_F(NcclFailures, TheOtherRanksAreToldWhyThereIsNoId) {
  fake->refuse_ids("no socket interface");
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({4}, DType::f32, gpu);
        EXPECT_DIST_ERROR(all_reduce(t), rank == 0 ? Errc::internal : Errc::peer_failed,
                          "no socket interface");
        EXPECT_DIST_ERROR(all_reduce(t), Errc::aborted, "earlier collective");
      },
      on_nccl());
}

TEST_F(NcclFailures, ARankThatDoesNotComeIsATimeout) {
  for (const int missing : {0, 2}) {
    run_ranks(
        3,
        [&](int rank) {
          Tensor t = ones({4}, DType::f32, gpu);
          const Options brief{.timeout = std::chrono::milliseconds(200)};
          if (rank != missing)
            EXPECT_DIST_ERROR(all_reduce(t, ReduceOp::sum, brief), Errc::timeout,
                              missing == 0 ? "rank 0 has not begun it" : "has not connected the 3 ranks");
          dist::sleep(std::chrono::milliseconds(600));
        },
        on_nccl());
    EXPECT_EQ(fake->comms_alive(), 0);
  }
}

// Never a hang: the call's timeout aborts the communicator, and whatever waits on the stream goes on.
TEST_F(NcclFailures, ACollectiveThatDoesNotEndIsAborted) {
  run_one_that_does_not_end(expect_refused);
  EXPECT_EQ(fake->comms_alive(), 0);
}

// NCCL waits for its threads and the driver when it ends a communicator.
TEST_F(NcclFailures, AnAbortThatSticksHoldsNobodyUp) {
  fake->stick(true);
  run_one_that_does_not_end([](Tensor& t) {
    const auto asked = std::chrono::steady_clock::now();
    expect_refused(t);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::milliseconds(500));
  });
  EXPECT_EQ(fake->comms_alive(), 2);
  fake->stick(false);
  expect_comms_end();
}

TEST_F(NcclFailures, AnEndThatSticksIsLeftToItself) {
  const auto begun = std::chrono::steady_clock::now();
  {
    nccl::Communicator alone(nccl::library(), gpu, fake->begin(gpu, 1, fake->make_id(), 0), 0, 1);
    fake->stick(true);
    EXPECT_DIST_ERROR(
        alone.close(
            {.deadline = Deadline::after(std::chrono::milliseconds(100)), .look = [] {}, .doing = "leaving"}),
        Errc::timeout, "leaving: NCCL has not released the ranks in time");
    EXPECT_DIST_ERROR(alone.check(), Errc::aborted, "was given up");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  EXPECT_EQ(fake->comms_alive(), 1);
  fake->stick(false);
  expect_comms_end();
}

// The group's error says only that a call has failed.
TEST_F(NcclFailures, TheFirstErrorOfAGroupIsTold) {
  nccl::Communicator alone(nccl::library(), gpu, fake->begin(gpu, 1, fake->make_id(), 0), 0, 1);
  fake->fail_groups("invalid usage");
  const nccl::Patience brief{
      .deadline = Deadline::after(std::chrono::seconds(10)), .look = [] {}, .doing = ""};
  EXPECT_DIST_ERROR(alone.run([](auto&, auto) { fail(Errc::internal, "what it was"); }, brief),
                    Errc::internal, "what it was");
  EXPECT_DIST_ERROR(alone.run([](auto&, auto) {}, brief), Errc::internal, "invalid usage");
  fake->fail_groups("");
  alone.run([](auto&, auto) {}, brief);
}

TEST_F(NcclFailures, WhatNcclNoticesLaterEndsTheGroup) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({4}, DType::f32, gpu);
        all_reduce(t);
        (void)sum(t);
        barrier();
        if (rank == 0) {
          all_reduce(t);
          fake->break_comms("remote process exited or there was a network error");
          dist::sleep(std::chrono::milliseconds(300));
          expect_error(Errc::aborted, {"earlier collective", "its own error says why"},
                       [&] { all_reduce(t); });
          fake->break_comms("");
        }
        dist::sleep(std::chrono::milliseconds(500));
      },
      on_nccl());
  EXPECT_EQ(fake->comms_alive(), 0);
}

// The engine knows, long before NCCL.
TEST_F(NcclFailures, ARankThatLeavesEndsWhatWaitsForIt) {
  RankOptions options = on_nccl();
  options.init.timeout = std::chrono::seconds(60);
  EXPECT_DIST_ERROR(
      run_ranks(
          2,
          [&](int rank) {
            Tensor t = ones({4}, DType::f32, gpu);
            all_reduce(t);
            (void)sum(t);
            if (rank == 1) fail(Errc::internal, "this rank has had enough");
            all_reduce(t);
            (void)sum(t);
            dist::sleep(std::chrono::milliseconds(200));
            expect_error(Errc::aborted, {"earlier collective", "rank 1"}, [&] { all_reduce(t); });
          },
          options),
      Errc::internal, "had enough");
}

// NCCL notices only that a connection was closed.
TEST_F(NcclFailures, ARankThatLeftIsNamedByTheNextCall) {
  std::atomic<bool> is_broken = false;
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = ones({4}, DType::f32, gpu);
                          all_reduce(t);
                          (void)sum(t);
                          barrier();
                          if (rank == 1) {
                            fake->break_comms("remote process exited or there was a network error");
                            is_broken = true;
                            fail(Errc::internal, "this rank has had enough");
                          }
                          while (!is_broken) dist::sleep(std::chrono::microseconds(100));
                          expect_error(Errc::peer_failed, {"rank 1"}, [&] { all_reduce(t); });
                        },
                        on_nccl()),
                    Errc::internal, "had enough");
}

TEST_F(NcclFailures, ThreadsCannotShareAGpuByHostIds) {
  const ScopedEnv share("DIST_NCCL_SHARE_GPU", "1");
  EXPECT_DIST_ERROR(run_ranks(
                        2, [](int) {}, on_nccl()),
                    Errc::unsupported, "ranks that are processes");
}

TEST(NcclProcesses, EachLooksLikeAHostOfItsOwn) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  ProcessRanks ranks(2, [](int, const auto&) {
    new FakeNcclGuard;
    ::setenv("DIST_NCCL_SHARE_GPU", "1", 1);
    init_process_group({.backend = "nccl", .timeout = std::chrono::seconds(30)});
    barrier();
    destroy_process_group();
    return std::string(::getenv("NCCL_HOSTID")) + " " + ::getenv("NCCL_SOCKET_IFNAME");
  });
  const auto reports = ranks.join(std::chrono::seconds(60));
  EXPECT_EQ(reports[0].text, "distlab-rank-0 lo");
  EXPECT_EQ(reports[1].text, "distlab-rank-1 lo");
}

TEST(NcclErrors, SayWhatToDo) {
  using nccl::explain;
  EXPECT_EQ(
      explain("ncclCommInitRankConfig", "unhandled cuda error", "CUDA driver version is insufficient\n"),
      "ncclCommInitRankConfig: CUDA driver version is insufficient (unhandled cuda error); install a newer "
      "driver (nvidia-smi shows the CUDA version that it supports)");
  const std::string_view left = "remote process exited or there was a network error",
                         shared = "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000",
                         newer = "Multiple Ranks are using the same GPU/Partition.";
  for (const std::string_view said : {shared, newer})
    EXPECT_NE(explain("NCCL", "invalid usage", said).find("DIST_NCCL_SHARE_GPU=1"), std::string::npos)
        << said;
  const std::string of_peer = explain("NCCL", left, shared);  // a warning of another group's, long ago
  EXPECT_TRUE(of_peer.ends_with("another rank has ended; its own error says why")) << of_peer;
  EXPECT_EQ(explain("ncclSend", "internal error", ""),
            "ncclSend: internal error; NCCL_DEBUG=WARN shows what NCCL saw");
}

}  // namespace
}  // namespace dist::test
