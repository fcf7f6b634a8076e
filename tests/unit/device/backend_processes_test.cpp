// The cuda backend between processes, which map each other's device memory: on the fake device, whose memory
// is a file.
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/sanitizer.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/process_ranks.h"
#include "unit/device/device_sweep.h"

namespace dist::test {
namespace {

constexpr auto patience = std::chrono::seconds(100);

// Each process makes a device of its own, which ends with the process.
void make_device(const FakeDeviceOptions& options = {}) { new FakeDeviceGuard(options); }

class DeviceProcesses : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  }
  const ScopedEnv sync{"DIST_CUDA_SYNC", GetParam()};
};

TEST_P(DeviceProcesses, GiveWhatTheHostGives) {
  for (const int n : {2, 3}) {
    ProcessRanks ranks(n, [](int, const auto&) {
      make_device({.caches = true});
      init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
      for (const DType dtype : swept_dtypes())
        for (const std::int64_t count : {0, 7, 20'000}) sweep_collectives(cuda(0), count, dtype);
      sweep_collectives(cuda(0), 1000, DType::f32, {.async_op = true});
      destroy_process_group();
      return std::string("exact");
    });
    for (const auto& report : ranks.join(patience)) EXPECT_EQ(report.text, "exact") << n << " ranks";
  }
}

// By messages between devices.
TEST_P(DeviceProcesses, GiveWhatTheHostGivesByEveryAllReduceThatIsTaught) {
  ProcessRanks ranks(3, [](int rank, const auto&) {
    make_device({.caches = true});
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    for (const char* algorithm : {"ring", "tree", "double_binary_tree"})
      for (const std::int64_t count : {0, 7, 100'000})
        expect_as_on_cpu(algorithm, cuda(0), [&](Device at) {
          Tensor t = contribution(rank, count, DType::f32, at);
          all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
          return std::vector{t};
        });
    destroy_process_group();
    return std::string("exact");
  });
  for (const auto& report : ranks.join(patience)) EXPECT_EQ(report.text, "exact");
}

// Each tensor has a different address; memory that was mapped once is found again.
TEST_P(DeviceProcesses, MapNewMemoryAsItComes) {
  ProcessRanks ranks(2, [](int rank, const auto&) {
    make_device();
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    std::vector<Tensor> kept;
    for (int i = 0; i < 20; ++i) {
      kept.push_back(full({30'000}, rank + i, DType::f32, cuda(0)));
      all_reduce(kept.back());
      if (const double got = sum(kept.back()); got != 30'000.0 * (1 + 2 * i))
        return fmt::format("{}: {}", i, got);
    }
    destroy_process_group();
    return std::string("exact");
  });
  for (const auto& report : ranks.join(patience)) EXPECT_EQ(report.text, "exact");
}

// Each process counts only its own launches, and the first process of a device launches for all.
TEST_P(DeviceProcesses, OneOfThoseThatShareADeviceLaunches) {
  ProcessRanks ranks(3, [](int rank, const auto&) {
    auto* const fake = new FakeDeviceGuard;
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    const Tensor mine = full({1000}, rank, DType::f32, cuda(0));
    std::vector<Tensor> all, parts;
    for (int r = 0; r < 3; ++r) all.push_back(zeros({1000}, DType::f32, cuda(0)));
    for (int r = 0; r < 3; ++r) parts.push_back(full({1000}, rank + r, DType::f32, cuda(0)));
    Tensor out = zeros({1000}, DType::f32, cuda(0));
    all_gather(all, mine);
    const std::size_t before = (*fake)->launches();
    all_gather(all, mine);
    reduce_scatter(out, parts);
    all_to_all(parts, all);
    const std::size_t launches = (*fake)->launches() - before;
    const bool right =
        sum(all[2]) == 2000 && sum(out) == 1000.0 * (3 + 3 * rank) && sum(parts[2]) == 1000.0 * rank;
    destroy_process_group();
    return fmt::format("{} launches, {}", launches, right ? "right" : "wrong");
  });
  const auto reports = ranks.join(patience);
  EXPECT_EQ(reports[0].text, "3 launches, right");
  for (const std::size_t other : {1U, 2U}) EXPECT_EQ(reports[other].text, "0 launches, right");
}

void expect_a_killed_rank_ends_the_others(int killed_rank, const std::function<void(Tensor&)>& call) {
  ProcessRanks ranks(3, [&](int, const auto& ready) -> std::string {
    make_device();
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
    Tensor t = ones({30'000}, DType::f32, cuda(0));
    try {
      for (int i = 0;; ++i) {
        call(t);
        if (i == 5) ready();
        (void)sum(t);  // the host waits for the device
      }
    } catch (const Error& error) {
      return error.what();
    }
  });
  ASSERT_TRUE(ranks.wait_ready(std::chrono::seconds(30)));
  ranks.kill(killed_rank);
  const auto killed = ProcessRanks::Clock::now();
  const auto reports = ranks.join(std::chrono::seconds(20));
  for (const int rank : {0, 1, 2}) {
    const auto& report = reports[static_cast<std::size_t>(rank)];
    if (rank == killed_rank) continue;
    EXPECT_EQ(report.signal, 0) << rank;
    EXPECT_NE(report.text.find(fmt::format("rank {}", killed_rank)), std::string::npos) << report.text;
    EXPECT_LE(report.ended - killed, std::chrono::seconds(2)) << report.text;
  }
}

void average(Tensor& t, const char* algorithm) { all_reduce(t, ReduceOp::avg, {.algorithm = algorithm}); }

TEST_P(DeviceProcesses, AKilledRankEndsTheOthersSoon) {
  expect_a_killed_rank_ends_the_others(1, [](Tensor& t) { average(t, "two_shot"); });
}
TEST_P(DeviceProcesses, AKilledRankEndsARingSoon) {
  expect_a_killed_rank_ends_the_others(1, [](Tensor& t) { average(t, "ring"); });
}
// Rank 0 launches for all.
TEST_P(DeviceProcesses, ADeathEndsTheRanksThatAreServedAndThoseThatServe) {
  for (const int killed : {0, 1})
    expect_a_killed_rank_ends_the_others(killed, [](Tensor& t) {
      std::vector<Tensor> all;
      for (int r = 0; r < 3; ++r) all.push_back(zeros({30'000}, DType::f32, cuda(0)));
      all_gather(all, t);
      t.copy_(all[2]);
    });
}

// The group goes through the host.
TEST_P(DeviceProcesses, ARankThatCannotTakePartTellsTheOthers) {
  ProcessRanks ranks(3, [&](int rank, const auto&) {
    make_device({.exports = rank != 1});
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    sweep_collectives(cuda(0), 20'000, DType::f32);
    destroy_process_group();
    return std::string("exact");
  });
  for (const auto& report : ranks.join(patience)) EXPECT_EQ(report.text, "exact");
}

// No rank waits for a rank that dies while the ranks leave the group.
TEST_P(DeviceProcesses, ADeathWhileTheGroupIsLeftEndsIt) {
  ProcessRanks ranks(2, [](int rank, const auto& ready) -> std::string {
    auto* const fake = new FakeDeviceGuard;
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
    Tensor t = ones({30'000}, DType::f32, cuda(0));
    all_reduce(t);
    (void)sum(t);
    barrier();
    if (rank == 1) (*fake)->hold_all(true);
    ready();
    destroy_process_group();
    return "left";
  });
  ASSERT_TRUE(ranks.wait_ready(std::chrono::seconds(30)));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ranks.kill(1);
  const auto killed = ProcessRanks::Clock::now();
  const auto report = ranks.join(std::chrono::seconds(20))[0];
  EXPECT_EQ(report.text, "left");
  EXPECT_LE(report.ended - killed, std::chrono::seconds(2));
}

TEST(DeviceProcessesThatMisspell, LearnItWhenTheyStart) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  ProcessRanks ranks(2, [](int rank, const auto&) {
    make_device();
    if (rank == 1) ::setenv("DIST_CUDA_SYNC", "smoke", 1);
    try {
      init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
      Tensor t = ones({10}, DType::f32, cuda(0));
      all_reduce(t);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  });
  const auto reports = ranks.join(patience);
  EXPECT_EQ(reports[1].text, "DIST_CUDA_SYNC is \"smoke\"; there are events, flags and host");
  EXPECT_NE(reports[0].text.find("rank 1 gave up: DIST_CUDA_SYNC is"), std::string::npos) << reports[0].text;
}

TEST(DeviceProcessesThatDiffer, LearnItAndEveryLaterCallSaysSo) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  ProcessRanks ranks(2, [](int rank, const auto&) {
    make_device();
    ::setenv("DIST_CUDA_SYNC", rank == 0 ? "host" : "flags", 1);
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(30)});
    Tensor t = ones({10}, DType::f32, cuda(0));
    std::string told;
    for (int i = 0; i < 2; ++i) {
      try {
        all_reduce(t);
      } catch (const Error& error) {
        told += fmt::format("[{}] {}\n", name(error.code()), error.what());
      }
    }
    return told;
  });
  for (const auto& report : ranks.join(patience)) {
    EXPECT_NE(report.text.find("DIST_CUDA_SYNC differs"), std::string::npos) << report.text;
    EXPECT_NE(report.text.find("an earlier collective of this group failed"), std::string::npos)
        << report.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceProcesses, testing::Values("flags", "host"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace dist::test
