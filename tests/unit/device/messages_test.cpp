// The algorithms of collectives/ on device tensors, by messages between the ranks' devices.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"
#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/ranks.h"
#include "support/slow_build.h"
#include "unit/device/device_case.h"
#include "unit/device/device_sweep.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

std::vector<std::string_view> names_of(OpKind collective) {
  std::vector<std::string_view> names;
  for (const AlgorithmEntry& entry : algorithms())
    if (entry.collective == collective) names.push_back(entry.name);
  return names;
}

// DIST_ALGO for the i-th algorithm of every collective; those with fewer start over.
std::string ith_of_all(std::size_t i) {
  std::vector<std::string> settings;
  for (const OpKind kind : {OpKind::broadcast, OpKind::reduce, OpKind::all_reduce, OpKind::scatter,
                            OpKind::gather, OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all}) {
    const auto names = names_of(kind);
    settings.push_back(fmt::format("{}:{}", name(kind), names[i % names.size()]));
  }
  return fmt::format("{}", fmt::join(settings, ","));
}

class DeviceMessagesSweep : public testing::TestWithParam<DeviceCase> {};

// In a slow build each case takes every third algorithm, and all cases together all.
TEST_P(DeviceMessagesSweep, EveryAlgorithmGivesWhatTheHostGives) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam().sync);
  const std::size_t step = slow_build ? 3 : 1, first = static_cast<std::size_t>(GetParam().ranks) % step;
  for (std::size_t i = first; i < names_of(OpKind::all_reduce).size(); i += step) {
    const ScopedEnv named("DIST_ALGO", ith_of_all(i));
    const FakeDeviceGuard fake(GetParam().fake);
    run_ranks(
        GetParam().ranks,
        [&](int rank) {
          for (const std::int64_t count : swept_counts({0, 7, 1000}))
            sweep_collectives(device_of(rank), count, DType::f32);
          sweep_collectives(device_of(rank), 1000, DType::i64, {.async_op = true});
        },
        on_cuda());
    EXPECT_EQ(fake->host_pages_registered(), 0U);
  }
}

std::vector<DeviceCase> message_cases() {
  return {{"one_device", "events", 5},
          {"one_device", "flags", 2},
          {"one_device", "host", 3},
          {"two_devices", "flags", 3, {.count = 2}},
          {"caching", "events", 4, {.caches = true}}};
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceMessagesSweep, testing::ValuesIn(message_cases()), name_of);

class DeviceMessages : public testing::TestWithParam<std::string> {
 protected:
  const ScopedEnv sync{"DIST_CUDA_SYNC", GetParam()};
};

// Two dozen segments, more than a pair of ranks may have in flight.
TEST_P(DeviceMessages, LongDataIsPipelined) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.longest_rest = std::chrono::microseconds(20)});
  run_ranks(
      5,
      [&](int rank) {
        for (const char* algorithm : {"ring", "ring_segmented", "tree", "double_binary_tree"}) {
          constexpr std::int64_t count = slow_build ? 300'000 : 800'000;
          Tensor t = full({count}, rank + 1, DType::f32, cuda(0));
          all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
          EXPECT_EQ(sum(t), static_cast<double>(count) * 15) << algorithm;
        }
      },
      on_cuda());
}

// None of it goes through the host: the device adds, and no tensor leaves it.
TEST_P(DeviceMessages, TheDataStaysOnTheDevice) {
  const FakeDeviceGuard fake;
  run_ranks(
      3,
      [&](int rank) {
        Tensor t = full({1000}, rank, DType::f32, cuda(0));
        barrier();
        const std::size_t adds = fake->reductions(), detours = fake->detours();
        barrier();
        all_reduce(t, ReduceOp::premul_sum(2), {.algorithm = "ring"});
        device_api(DeviceType::cuda).synchronize(cuda(0), current_stream(cuda(0)));
        barrier();
        EXPECT_EQ(fake->reductions() - adds, 3 * 2U);  // each rank adds n - 1 times
        EXPECT_EQ(fake->detours(), detours);
        barrier();
        EXPECT_EQ(sum(t), 1000 * 6);
      },
      on_cuda());
}

// Where several messages have arrived before the root polls, they are one launch. Whether they have depends
// on the machine's load, so the test repeats this until they have.
TEST_P(DeviceMessages, WhatHasComeIsCopiedByOneLaunch) {
  constexpr int ranks = 4, tries = 40;
  std::size_t fewest = 100;
  const FakeDeviceGuard fake;
  run_ranks(
      ranks,
      [&](int rank) {
        const Tensor mine = full({1000}, rank, DType::f32, cuda(0));
        std::vector<Tensor> all;
        for (int r = 0; rank == 0 && r < ranks; ++r) all.push_back(zeros({1000}, DType::f32, cuda(0)));
        for (int i = 0; i < tries; ++i) {
          barrier();
          const std::size_t before = fake->launches();
          barrier();
          if (rank == 0) dist::sleep(std::chrono::milliseconds(10));
          gather(mine, all, 0, {.algorithm = "flat"});
          barrier();
          if (rank == 0) fewest = std::min(fewest, fake->launches() - before);
        }
        for (int r = 0; rank == 0 && r < ranks; ++r)
          EXPECT_EQ(sum(all[static_cast<std::size_t>(r)]), 1000 * r);
      },
      on_cuda());
  EXPECT_EQ(fewest, 2U) << "the root's own part, and all others";
}

// A rank whose stream is stuck: the others run ahead as far as they can, and nothing is overwritten.
TEST_P(DeviceMessages, AStreamThatStandsStillHoldsUpTheOthersNotTheHosts) {
  const FakeDeviceGuard fake;
  if (GetParam() == "host") GTEST_SKIP() << "there the hosts wait for their streams";
  run_ranks(
      3,
      [&](int rank) {
        const Stream own(cuda(0));
        const StreamGuard guard(cuda(0), own.handle());
        std::vector<Tensor> tensors;
        for (int i = 0; i < 30; ++i) tensors.push_back(full({10}, rank + i, DType::f32, cuda(0)));
        own.synchronize();
        if (rank == 1) fake->hold(cuda(0), own.handle(), true);
        for (Tensor& t : tensors) all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
        dist::sleep(std::chrono::milliseconds(50));
        if (rank == 1) fake->hold(cuda(0), own.handle(), false);
        for (int i = 0; i < 30; ++i) EXPECT_EQ(sum(tensors[static_cast<std::size_t>(i)]), 10 * (3 + 3 * i));
      },
      on_cuda());
}

TEST_P(DeviceMessages, RanksThatDifferLearnIt) {
  const FakeDeviceGuard fake;
  EXPECT_DIST_ERROR(run_ranks(
                        2,
                        [&](int rank) {
                          Tensor t = zeros({rank == 0 ? 100 : 102}, DType::f32, cuda(0));
                          all_reduce(t, ReduceOp::sum, {.algorithm = "ring"});
                          (void)sum(t);
                        },
                        on_cuda()),
                    Errc::mismatch, "all ranks must pass the same number");
}

TEST_P(DeviceMessages, AnAlgorithmThatDoesNotExistIsRefused) {
  const FakeDeviceGuard fake;
  run_ranks(
      2,
      [&](int) {
        Tensor t = ones({10}, DType::f32, cuda(0));
        EXPECT_DIST_ERROR(all_reduce(t, ReduceOp::sum, {.algorithm = "rings"}), Errc::invalid_argument,
                          "all_reduce has no algorithm \"rings\"");
        all_reduce(t);
        EXPECT_EQ(sum(t), 20);
      },
      on_cuda());
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceMessages, testing::Values("events", "flags", "host"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace dist::test
