// The cuda backend on the fake device: everything but CUDA itself. Ranks are threads;
// backend_processes_test.cpp runs them as processes.
#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/ranks.h"
#include "unit/device/device_sweep.h"

namespace dist::test {
namespace {

RankOptions on_cuda() {
  RankOptions options;
  options.init.backend = "cuda";
  return options;
}

Device device_of(int rank) { return cuda(rank % device_api(DeviceType::cuda).count()); }

constexpr std::array dtypes{DType::f32, DType::i64, DType::bf16, DType::u8};
// The last one is larger than a room for f32.
constexpr std::array<std::int64_t, 4> counts{0, 1, 1000, 20'000};

struct Case {
  std::string label, sync;
  int ranks = 1;
  FakeDeviceOptions fake = {};
  friend void PrintTo(const Case& c, std::ostream* out) {
    *out << c.label << " " << c.sync << " " << c.ranks;
  }
};

class DeviceBackendSweep : public testing::TestWithParam<Case> {};

TEST_P(DeviceBackendSweep, GivesWhatTheHostGives) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam().sync);
  const FakeDeviceGuard fake(GetParam().fake);
  run_ranks(
      GetParam().ranks,
      [&](int rank) {
        for (const DType dtype : dtypes)
          for (const std::int64_t count : counts) sweep_collectives(device_of(rank), count, dtype);
        sweep_collectives(device_of(rank), 1000, DType::f32, {.async_op = true});
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* sync : {"events", "flags", "host"})
    for (const int ranks : {1, 2, 3, 5}) all.push_back({"one_device", sync, ranks});
  for (const char* sync : {"events", "flags"}) {
    all.push_back({"threads_need_no_handles", sync, 2, {.exports = false}});
    all.push_back({"two_devices", sync, 3, {.count = 2}});
    all.push_back({"caching", sync, 4, {.caches = true}});
    all.push_back({"restless", sync, 2, {.longest_rest = std::chrono::microseconds(20)}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceBackendSweep, testing::ValuesIn(cases()), [](const auto& test) {
  return fmt::format("{}_{}_{}", test.param.label, test.param.sync, test.param.ranks);
});

class DeviceBackendTest : public testing::TestWithParam<std::string> {
 protected:
  const ScopedEnv sync{"DIST_CUDA_SYNC", GetParam()};
  FakeDeviceGuard fake;
  const Device gpu = cuda(0);
};

TEST_P(DeviceBackendTest, WorkBeforeAndAfterACallIsOrderedByTheStream) {
  const FakeDeviceGuard slow(FakeDeviceOptions{.longest_rest = std::chrono::milliseconds(2)});
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
      on_cuda());
}

// As everywhere: an asynchronous call must not wait for the others to call.
TEST_P(DeviceBackendTest, AnAsynchronousCallReturnsBeforeTheOthersCall) {
  run_ranks(
      2,
      [&](int rank) {
        Tensor data = full({1000}, rank + 1, DType::f32, gpu), word = zeros({1});
        Work work;
        if (rank == 0) work = all_reduce(data, ReduceOp::sum, {.async_op = true});
        if (rank == 0) send(word, 1);
        if (rank == 1) recv(word, 0);
        if (rank == 1) work = all_reduce(data, ReduceOp::sum, {.async_op = true});
        work.wait();
        EXPECT_EQ(sum(data), 3000);
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, ManyOperationsAreUnderWayAtOnce) {
  run_ranks(
      3,
      [&](int rank) {
        std::vector<Tensor> tensors;
        std::vector<Work> works;
        for (int i = 0; i < 40; ++i) {
          tensors.push_back(full({i * 100}, rank + i, DType::i32, gpu));
          works.push_back(all_reduce(tensors.back(), ReduceOp::sum, {.async_op = true}));
        }
        for (int i = 39; i >= 0; --i) {
          works[static_cast<std::size_t>(i)].wait();
          EXPECT_EQ(sum(tensors[static_cast<std::size_t>(i)]), i * 100 * (3 + 3 * i));
        }
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, MessagesBarriersAndCpuTensorsGoThroughTheHost) {
  run_ranks(
      2,
      [&](int rank) {
        const Tensor mine = full({10}, rank + 1, DType::f32, gpu);
        Tensor theirs = zeros({10}, DType::f32, gpu), here = ones({3});
        Work got = irecv(theirs, 1 - rank);
        isend(mine, 1 - rank).wait();
        got.wait();
        EXPECT_EQ(sum(theirs), 10 * (2 - rank));
        if (rank == 0) send(mine, 1);
        if (rank == 1) {
          EXPECT_EQ(recv(theirs).source_rank(), 0);
        }
        barrier();
        all_reduce(here);
        EXPECT_EQ(sum(here), 6);
      },
      on_cuda());
}

TEST_P(DeviceBackendTest, RanksThatDifferLearnIt) {
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = zeros({rank == 0 ? 100 : 101}, DType::f32, gpu);
                          all_reduce(t);
                        },
                        on_cuda()),
                    Errc::mismatch, "bytes");
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceBackendTest, testing::Values("events", "flags", "host"),
                         [](const auto& test) { return test.param; });

TEST(DeviceBackend, AGroupWorksOnOneDeviceARank) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = zeros({3}, DType::f32, cuda(rank)), elsewhere = zeros({3}, DType::f32, cuda(1 - rank));
        all_reduce(t);
        EXPECT_DIST_ERROR(all_reduce(elsewhere), Errc::invalid_argument, "one device a rank");
      },
      on_cuda());
}

// The device has room for what one of the ranks brings along, not for two.
TEST(DeviceBackend, ARankThatCannotTakePartTellsTheOthers) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.bytes = std::size_t{3} << 19});
  RankOptions options = on_cuda();
  options.init.timeout = std::chrono::seconds(30);
  run_ranks(
      2,
      [&](int rank) {
        for (int i = 0; i < 3; ++i) {
          Tensor t = full({1000}, rank + i, DType::f32, cuda(0));
          all_reduce(t);
          EXPECT_EQ(sum(t), 1000 * (1 + 2 * i));
        }
      },
      options);
}

// The root runs ahead of a rank whose stream stands still: what it shows may not be overwritten before it was
// read.
TEST(DeviceBackend, ARoomIsUsedAgainOnlyWhenItWasRead) {
  for (const char* sync_by : {"events", "flags"}) {
    const ScopedEnv sync("DIST_CUDA_SYNC", sync_by);
    const FakeDeviceGuard fake;
    run_ranks(
        2,
        [&](int rank) {
          const Device gpu = cuda(0);
          const Stream own(gpu);
          const StreamGuard guard(gpu, own.handle());
          std::vector<Tensor> tensors;
          for (int i = 0; i < 40; ++i) tensors.push_back(full({10}, rank == 0 ? i : -1, DType::f32, gpu));
          broadcast(tensors[0], 0);
          own.synchronize();
          if (rank == 1) fake->hold(gpu, own.handle(), true);
          for (Tensor& t : tensors) broadcast(t, 0);
          dist::sleep(std::chrono::milliseconds(50));
          fake->hold(gpu, own.handle(), false);
          for (int i = 0; i < 40; ++i)
            EXPECT_EQ(sum(tensors[static_cast<std::size_t>(i)]), 10 * i) << sync_by;
        },
        on_cuda());
  }
}

// A stream that never comes to its part of an operation: the call's timeout ends it, on all ranks.
TEST(DeviceBackend, AStuckStreamIsLetGoAndTheNextCallSaysWhy) {
  const ScopedEnv sync("DIST_CUDA_SYNC", "flags");
  const FakeDeviceGuard fake;
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
        expect_error(Errc::aborted, {"earlier collective", "has not ended on cuda:0 in 1000 ms"},
                     [&] { all_reduce(t); });
        fake->hold(gpu, own.handle(), false);
        own.synchronize();  // nothing waits any more
      },
      on_cuda());
}

// Done is signalled all the same: the others must not wait. But it was not done.
TEST_P(DeviceBackendTest, ARankThatFailsInTheMiddleSpoilsItForAll) {
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

TEST_P(DeviceBackendTest, OneShotRoundsAreAsLongAsARoom) {
  run_ranks(
      2,
      [&](int) {
        for (const auto& [count, rounds] : {std::pair{16'384, 1U}, std::pair{20'000, 2U}}) {
          Tensor t = ones({count}, DType::f32, gpu);
          barrier();
          const std::size_t before = fake->reductions();
          barrier();
          all_reduce(t, ReduceOp::sum, {.algorithm = "one_shot"});
          EXPECT_EQ(sum(t), 2.0 * count);
          barrier();
          EXPECT_EQ(fake->reductions() - before, 2 * rounds) << count;
        }
      },
      on_cuda());
}

// Signals that a stream of another rank had still to give come after the release, and take it back.
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

// A stream that stands still may yet look at the flags when its group has gone.
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
