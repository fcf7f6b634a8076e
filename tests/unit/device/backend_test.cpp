// The cuda backend on the fake device: everything but CUDA itself. Ranks are threads;
// backend_processes_test.cpp runs them as processes, backend_failures_test.cpp what goes wrong.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/ranks.h"
#include "unit/device/device_case.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

// The last one is larger than a room for f32.
const std::vector<std::int64_t> counts{0, 1, 1000, 20'000};

class DeviceBackendSweep : public testing::TestWithParam<DeviceCase> {};

TEST_P(DeviceBackendSweep, GivesWhatTheHostGives) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam().sync);
  const FakeDeviceGuard fake(GetParam().fake);
  run_ranks(
      GetParam().ranks,
      [&](int rank) {
        for (const DType dtype : swept_dtypes())
          for (const std::int64_t count : swept_counts(counts))
            sweep_collectives(device_of(rank), count, dtype);
        sweep_collectives(device_of(rank), 1000, DType::f32, {.async_op = true});
      },
      on_cuda());
  EXPECT_EQ(fake->host_pages_registered(), 0U);
  EXPECT_EQ(fake->early_waits(), 0U) << "of ranks that are threads";
}

std::vector<DeviceCase> backend_cases() {
  std::vector<DeviceCase> all;
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

INSTANTIATE_TEST_SUITE_P(Device, DeviceBackendSweep, testing::ValuesIn(backend_cases()), name_of);

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

// As on the CPU, an asynchronous call must not wait until the other ranks call.
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

TEST_P(DeviceBackendTest, RanksThatNameDifferentAlgorithmsLearnIt) {
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = zeros({100}, DType::f32, gpu);
                          all_reduce(t, ReduceOp::sum, {.algorithm = rank == 0 ? "one_shot" : "two_shot"});
                        },
                        on_cuda()),
                    Errc::mismatch, "runs it by another algorithm");
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

// However many ranks: their kernels would take turns.
TEST_P(DeviceBackendTest, OneRankOfEachDeviceSumsForAll) {
  for (const int devices : {1, 2, 4}) {
    const FakeDeviceGuard shared(FakeDeviceOptions{.count = devices});
    run_ranks(
        4,
        [&](int rank) {
          for (const std::int64_t count : {1, 20'000}) {
            Tensor t = full({count}, rank, DType::f32, device_of(rank));
            barrier();
            const std::size_t before = shared->reductions();
            barrier();
            all_reduce(t, ReduceOp::sum, {.algorithm = "two_shot"});
            EXPECT_EQ(sum(t), 6.0 * static_cast<double>(count));
            barrier();
            EXPECT_EQ(shared->reductions() - before, count == 1 ? 1U : static_cast<unsigned>(devices))
                << devices << " devices";
          }
        },
        on_cuda());
  }
}

// Memory that others cannot map is copied to where they can.
TEST_P(DeviceBackendTest, ForeignMemoryOfAnySizeIsReduced) {
  for (const int devices : {1, 2})
    for (const int ranks : {1, 2, 3}) {
      const FakeDeviceGuard foreign(FakeDeviceOptions{.count = devices});
      run_ranks(
          ranks,
          [&](int rank) {
            const Device mine = device_of(rank);
            for (const std::int64_t count : {1, 1000, 20'000}) {
              const Tensor owner = full({count}, rank + 1, DType::f32, mine);
              foreign->make_foreign(owner.raw());
              Tensor t = Tensor::from_blob(owner.raw(), {count}, DType::f32, mine);
              all_reduce(t);
              broadcast(t, 0);
              EXPECT_EQ(sum(t.clone()), static_cast<double>(count * ranks * (ranks + 1) / 2))
                  << count << " by " << ranks << " on " << devices;
            }
          },
          on_cuda());
    }
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
        EXPECT_DIST_ERROR(all_reduce(elsewhere), Errc::invalid_argument, "one device per rank");
      },
      on_cuda());
}

TEST(DeviceBackend, ACallOnAnotherDeviceLeavesTheGroupAsItWas) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  const auto begin = std::chrono::steady_clock::now();
  run_ranks(
      2,
      [&](int rank) {
        Tensor t = full({3}, 1, DType::f32, cuda(0)), elsewhere = zeros({3}, DType::f32, cuda(1));
        all_reduce(t);
        if (rank == 1) {
          EXPECT_DIST_ERROR(all_reduce(elsewhere), Errc::invalid_argument, "one device per rank");
          EXPECT_DIST_ERROR(all_reduce(elsewhere, {.async_op = true}), Errc::invalid_argument,
                            "one device per rank");
        }
        all_reduce(t);
        EXPECT_EQ(sum(t), 12);
      },
      on_cuda());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "waited for a refused call";
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

// The root runs ahead of a rank whose stream is stuck: what it publishes may not be overwritten before it was
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

}  // namespace
}  // namespace dist::test
