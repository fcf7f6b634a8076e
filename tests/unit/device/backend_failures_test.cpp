// What goes wrong on the cuda backend: ranks that fail, and streams that are stuck.
#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/ranks.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

class DeviceFailures : public testing::TestWithParam<std::string> {
 protected:
  const ScopedEnv sync{"DIST_CUDA_SYNC", GetParam()};
};

// "Done" is signalled anyway, because the others must not wait, although the work was not done.
TEST_P(DeviceFailures, ARankThatFailsInTheMiddleSpoilsItForAll) {
  const FakeDeviceGuard two(FakeDeviceOptions{.count = 2});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({20'000}, DType::f32, device_of(rank));
        all_reduce(t);
        (void)sum(t);
        barrier();
        if (rank == 1) {
          two->fail_kernels(cuda(1), true);
          EXPECT_DIST_ERROR(all_reduce(t), Errc::internal, "does not start");
          two->fail_kernels(cuda(1), false);
        } else {
          bool told = false;
          try {
            all_reduce(t);
          } catch (const Error& error) {
            told = error.code() == Errc::peer_failed;
          }
          EXPECT_TRUE(told || GetParam() == "flags") << "the hosts meet";
          dist::sleep(std::chrono::milliseconds(300));
        }
        expect_error(Errc::aborted, {"earlier collective", rank == 0 ? "rank 1 gave up" : "does not start"},
                     [&] { all_reduce(t); });
        dist::sleep(std::chrono::milliseconds(500));
      },
      on_cuda());
}

// The first of three ranks that share a device works for all of them. If its tensor differs from the others,
// or another rank's does, every rank learns it.
TEST_P(DeviceFailures, WhoSharesADeviceLearnsThatAnotherDiffers) {
  for (const int failing : {0, 2}) {
    const FakeDeviceGuard shared;
    run_ranks(
        3,
        [&](int rank) {
          Tensor t = ones({20'000}, DType::f32, cuda(0)),
                 small = ones({rank == failing ? 11 : 10}, DType::f32, cuda(0));
          all_reduce(t);
          (void)sum(t);
          barrier();
          EXPECT_THROW(all_reduce(small), Error) << "rank " << rank;
          EXPECT_THROW(all_reduce(t), Error) << "rank " << rank;
          dist::sleep(std::chrono::milliseconds(100));
        },
        on_cuda());
  }
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceFailures, testing::Values("events", "flags", "host"),
                         [](const auto& test) { return test.param; });

// A stream that never reaches its part of an operation: the call's timeout ends it, on all ranks. The rank
// that notices first notifies the other, whose error may then say that instead.
TEST(DeviceBackend, AStuckStreamIsLetGoAndTheNextCallSaysWhy) {
  const ScopedEnv sync("DIST_CUDA_SYNC", "flags");
  const FakeDeviceGuard fake;
  std::atomic<int> noticed = 0;
  run_ranks(
      2,
      [&](int rank) {
        const Device gpu = cuda(0);
        const Stream own(gpu);
        const StreamGuard guard(gpu, own.handle());
        Tensor t = ones({100}, DType::f32, gpu);
        all_reduce(t);
        own.synchronize();
        barrier();
        if (rank == 1) fake->hold(gpu, own.handle(), true);
        all_reduce(t, ReduceOp::sum, {.timeout = std::chrono::milliseconds(1000)});
        dist::sleep(std::chrono::milliseconds(2000));
        const std::string text = expect_error(Errc::aborted, {"earlier collective"}, [&] { all_reduce(t); });
        const bool has_noticed = text.find("has not ended on cuda:0 in 1000 ms") != std::string::npos;
        EXPECT_TRUE(has_noticed || text.find(fmt::format("rank {} gave up", 1 - rank)) != std::string::npos)
            << text;
        noticed += has_noticed;
        fake->hold(gpu, own.handle(), false);
        own.synchronize();  // nothing waits any more
      },
      on_cuda());
  EXPECT_GE(noticed, 1);
}

// Signals that another rank's stream has not given yet come after the release, and undo it.
TEST(DeviceBackend, ALateSignalDoesNotHoldUpWhatWasLetGo) {
  const ScopedEnv sync("DIST_CUDA_SYNC", "flags");
  const FakeDeviceGuard fake;
  const Device gpu = cuda(0);
  const Stream a(gpu), b(gpu), c(gpu);
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({100}, DType::f32, gpu), u = ones({100}, DType::f32, gpu);
        all_reduce(t);
        (void)sum(t);
        barrier();
        const Options brief{.timeout = std::chrono::milliseconds(300)};
        if (rank == 1) fake->hold(gpu, a.handle(), true), fake->hold(gpu, b.handle(), true);
        if (rank == 0) fake->hold(gpu, c.handle(), true);
        {
          const StreamGuard guard(gpu, rank == 0 ? nullptr : a.handle());
          all_reduce(t, ReduceOp::sum, brief);
        }
        {
          const StreamGuard guard(gpu, rank == 0 ? c.handle() : b.handle());
          all_reduce(u, ReduceOp::sum, brief);
        }
        dist::sleep(std::chrono::milliseconds(600));  // both let go
        if (rank == 1) fake->hold(gpu, a.handle(), false);
        dist::sleep(std::chrono::milliseconds(200));
        if (rank == 0) {
          fake->hold(gpu, c.handle(), false);
          Event passed(gpu);
          passed.record(c.handle());
          const Deadline deadline = Deadline::after(std::chrono::seconds(1));
          while (!passed.is_done() && !deadline.passed()) dist::sleep(std::chrono::milliseconds(1));
          EXPECT_TRUE(passed.is_done());
        }
        dist::sleep(std::chrono::milliseconds(1200));
        if (rank == 1) fake->hold(gpu, b.handle(), false);
      },
      on_cuda());
  EXPECT_EQ(fake->stray_flags(), 0U);
}

// A stream that is stuck may still read the flags after its group was destroyed.
TEST(DeviceBackend, WhatAStuckStreamLooksAtIsKept) {
  const ScopedEnv sync("DIST_CUDA_SYNC", "flags");
  const FakeDeviceGuard fake;
  const Device gpu = cuda(0);
  const Stream stuck(gpu);
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = ones({30'000}, DType::f32, gpu);
        all_reduce(t);
        (void)sum(t);
        barrier();
        if (rank == 1) fake->hold(gpu, stuck.handle(), true);
        const StreamGuard guard(gpu, rank == 1 ? stuck.handle() : nullptr);
        all_reduce(t, ReduceOp::sum, {.timeout = std::chrono::milliseconds(300)});
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 2U) << "of the rank whose stream is stuck";
  fake->hold(gpu, stuck.handle(), false);
  stuck.synchronize();
  for (int i = 0; i < 1000 && fake->backlog() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(fake->backlog(), 0U);
  EXPECT_EQ(fake->stray_flags(), 0U);
}

}  // namespace
}  // namespace dist::test
