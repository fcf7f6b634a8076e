// The cuda and the nccl backend with ranks as processes on the real GPU. A program of its own: CUDA does not
// survive fork(), so the process that starts the ranks never touches it.
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "gpu/gpu_test.h"
#include "support/expect_error.h"
#include "support/process_ranks.h"
#include "unit/device/device_sweep.h"
#include "unit/parallel/ring_case.h"

namespace dist::test {
namespace {

const std::string skipped = "skipped: ";

// What each rank says: "exact", or why not.
std::string sweep(const std::string& backend) {
  const Sweep operations = backend == "nccl" ? Sweep::without_bit_operations : Sweep::all_operations;
  init_process_group({.backend = backend, .timeout = std::chrono::seconds(60)});
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64})
    for (const std::int64_t count : {0, 1, 7, 1000, 65'537, 1'000'003})
      sweep_collectives(get_device(), count, dtype, {}, operations);
  sweep_collectives(get_device(), 1000, DType::f32, {.async_op = true}, operations);
  destroy_process_group();
  return "exact";
}

// Batches of messages by NCCL: the messages of the first batch one by one, and each of the other batches in
// one group.
std::string batches() {
  init_process_group({.backend = "nccl", .timeout = std::chrono::seconds(60)});
  const int rank = get_rank(), n = get_world_size();
  std::string wrong;
  for (int i = 0; i < 4; ++i) {
    std::vector<P2P> batch;
    std::vector<Tensor> got;
    for (int peer = 0; peer < n; ++peer) {
      if (peer == rank) continue;
      got.push_back(zeros({100'000}, DType::f32, get_device()));
      batch.push_back({P2P::irecv, got.back(), peer});
      batch.push_back(
          {P2P::isend, full({100'000}, 100 * i + 10 * rank + peer, DType::f32, get_device()), peer});
    }
    for (Work& work : batch_isend_irecv(batch)) work.wait();
    for (int peer = 0, at = 0; peer < n; ++peer) {
      if (peer == rank) continue;
      const Tensor expected = full({100'000}, 100 * i + 10 * peer + rank, DType::f32);
      if (!equal(got[static_cast<std::size_t>(at++)].to(cpu), expected))
        wrong += fmt::format("batch {}, from rank {}; ", i, peer);
    }
  }
  destroy_process_group();
  return wrong.empty() ? "exact" : wrong;
}

class GpuProcesses : public GpuTest, public testing::WithParamInterface<std::string> {};
class GpuNccl : public GpuTest {};
class GpuProcessesThatUseTheSecondGpu : public GpuTest {};

TEST_P(GpuProcesses, CollectivesAreExact) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam());
  for (const int n : {1, 2, 4, 8}) {
    ProcessRanks ranks(n, [](int, const auto&) { return sweep("cuda"); });
    for (const auto& report : ranks.join(std::chrono::seconds(200)))
      EXPECT_EQ(report.text, "exact") << n << " ranks";
  }
}

TEST_P(GpuProcesses, AlgorithmsByMessagesAreExact) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam());
  for (const char* algorithm : {"ring", "tree", "double_binary_tree"}) {
    const ScopedEnv named("DIST_ALGO", std::string("all_reduce:") + algorithm);
    ProcessRanks ranks(3, [](int, const auto&) { return sweep("cuda"); });
    for (const auto& report : ranks.join(std::chrono::seconds(200)))
      EXPECT_EQ(report.text, "exact") << algorithm;
  }
}

TEST_P(GpuProcesses, AKilledRankEndsTheOthersSoon) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam());
  ProcessRanks ranks(3, [](int, const auto& ready) -> std::string {
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
    Tensor t = ones({30'000}, DType::f32, get_device());
    try {
      for (int i = 0;; ++i) {
        all_reduce(t, ReduceOp::avg);
        if (i == 5) ready();
        (void)sum(t);
      }
    } catch (const Error& error) {
      return error.what();
    }
  });
  ASSERT_TRUE(ranks.wait_ready(std::chrono::seconds(60)));
  ranks.kill(1);
  const auto killed = ProcessRanks::Clock::now();
  const auto reports = ranks.join(std::chrono::seconds(30));
  for (const std::size_t rank : {0U, 2U}) {
    const auto& report = reports[rank];
    EXPECT_NE(report.text.find("rank 1"), std::string::npos) << report.text;
    EXPECT_LE(report.ended - killed, std::chrono::seconds(2)) << report.text;
  }
}

TEST_P(GpuProcesses, RingAttentionIsThatOfOneRank) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam());
  for (const RingCase& c : {RingCase{2, 70, 2}, RingCase{4, 150, 4, true, true, 2},
                            RingCase{3, 96, 1, true, false, 0, DType::bf16}}) {
    ProcessRanks ranks(c.ranks, [c](int rank, const auto&) -> std::string {
      init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
      RingRank mine(c, rank, get_device());
      mine.run();
      const double error = mine.error();
      destroy_process_group();
      return error <= c.bound() ? "as one rank" : "differs by " + std::to_string(error);
    });
    for (const auto& report : ranks.join(std::chrono::seconds(100)))
      EXPECT_EQ(report.text, "as one rank") << testing::PrintToString(c);
  }
}

// As many ranks as one GPU may have: each looks like a host of its own. avg is NCCL's, which multiplies by
// 1/n: exact where n is a power of two.
TEST_F(GpuNccl, CollectivesOfRanksThatShareAGpuAreExact) {
  const ScopedEnv share("DIST_NCCL_SHARE_GPU", "1");
  for (const int n : {1, 2, 4}) {
    ProcessRanks ranks(n, [](int, const auto&) { return sweep("nccl"); });
    for (const auto& report : ranks.join(std::chrono::seconds(200)))
      EXPECT_EQ(report.text, "exact") << n << " ranks";
  }
}

TEST_F(GpuNccl, BatchesOfMessagesAreExact) {
  const ScopedEnv share("DIST_NCCL_SHARE_GPU", "1"), by_nccl("DIST_NCCL_MESSAGES", "1");
  for (const int n : {2, 3}) {
    ProcessRanks ranks(n, [](int, const auto&) { return batches(); });
    for (const auto& report : ranks.join(std::chrono::seconds(200)))
      EXPECT_EQ(report.text, "exact") << n << " ranks";
  }
}

TEST_F(GpuNccl, RanksThatShareAGpuAreToldWhatToDo) {
  ProcessRanks ranks(2, [](int, const auto&) -> std::string {
    if (device_api(DeviceType::cuda).count() > 1) return skipped + "two ranks would not share one here";
    try {
      init_process_group({.backend = "nccl", .timeout = std::chrono::seconds(60)});
      Tensor t = ones({4}, DType::f32, get_device());
      all_reduce(t);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  });
  for (const auto& report : ranks.join(std::chrono::seconds(100))) {
    if (report.text.starts_with(skipped)) GTEST_SKIP() << report.text;
    EXPECT_NE(report.text.find("DIST_NCCL_SHARE_GPU=1"), std::string::npos) << report.text;
  }
}

// A device that a process does not use gets no context of it, which would take a few hundred MB there.
TEST_F(GpuProcessesThatUseTheSecondGpu, LeaveTheFirstAlone) {
  ProcessRanks ranks(1, [](int, const auto&) -> std::string {
    if (device_api(DeviceType::cuda).count() < 2) return skipped + "this needs two GPUs";
    init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
    Tensor t = ones({1000}, DType::f32, cuda(1));
    all_reduce(t);
    barrier();
    destroy_process_group();
    using State = int (*)(int device, unsigned* flags, int* active);
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    const auto state = reinterpret_cast<State>(::dlsym(driver, "cuDevicePrimaryCtxGetState"));
    unsigned flags = 0;
    int active = -1;
    state(0, &flags, &active);
    return active == 0 ? "untouched" : "used";
  });
  const auto report = ranks.join(std::chrono::seconds(100))[0];
  if (report.text.starts_with(skipped)) GTEST_SKIP() << report.text;
  EXPECT_EQ(report.text, "untouched");
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuProcesses, testing::Values("flags", "host"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace dist::test
