// The cuda backend with ranks as processes on the real GPU. A program of its own: CUDA does not survive
// fork(), so the process that starts the ranks never touches it.
#include <string>

#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/process_ranks.h"
#include "unit/device/device_sweep.h"

namespace dist::test {
namespace {

const std::string no_gpu = "no GPU: ";

// What each rank says: "exact", or why not.
std::string sweep(int rank) {
  int devices = 0;
  try {
    devices = device_api(DeviceType::cuda).count();
  } catch (const Error& error) {
    return no_gpu + error.what();
  }
  init_process_group({.backend = "cuda", .timeout = std::chrono::seconds(60)});
  const Device mine = cuda(rank % devices);
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64})
    for (const std::int64_t count : {0, 1, 7, 1000, 65'537, 1'000'003}) sweep_collectives(mine, count, dtype);
  sweep_collectives(mine, 1000, DType::f32, {.async_op = true});
  destroy_process_group();
  return "exact";
}

class GpuProcesses : public testing::TestWithParam<std::string> {};

TEST_P(GpuProcesses, CollectivesAreExact) {
  const ScopedEnv sync("DIST_CUDA_SYNC", GetParam());
  for (const int n : {1, 2, 4, 8}) {
    ProcessRanks ranks(n, [](int rank, const auto&) { return sweep(rank); });
    for (const auto& report : ranks.join(std::chrono::seconds(200))) {
      if (report.text.starts_with(no_gpu)) GTEST_SKIP() << report.text;
      EXPECT_EQ(report.text, "exact") << n << " ranks";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuProcesses, testing::Values("flags", "host"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace dist::test
