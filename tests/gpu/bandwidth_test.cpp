// How close all_reduce comes to what the GPU's memory can do: ranks that are threads of one process share it.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/kernels.h"
#include "dist/dist.h"

#include "gpu/gpu_test.h"
#include "support/ranks.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

constexpr int times = 10;
constexpr std::int64_t mib = std::int64_t{1} << 20;

void finish(Device gpu) { device_api(gpu.type).synchronize(gpu, current_stream(gpu)); }

// Seconds that each of `times` calls takes, when all of them were enqueued one after the other.
template <class Call>
double seconds_of_each(Device gpu, const Call& call) {
  for (int i = 0; i < 3; ++i) call();
  finish(gpu);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  finish(gpu);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

// Bytes per second, read and written.
double copy_bandwidth(Device gpu) {
  const Tensor from = zeros({256 * mib}, DType::u8, gpu);
  Tensor to = zeros({256 * mib}, DType::u8, gpu);
  return 2.0 * 256 * mib / seconds_of_each(gpu, [&] { copy(to.flat(), from.flat()); });
}

class GpuBandwidth : public GpuTest {};

// Each rank reads all that it sums from the others, and writes as much: 2nS for all ranks together.
TEST_F(GpuBandwidth, AllReduceOfEightThreadsIsNearThatOfACopy) {
  constexpr int ranks = 8;
  const double limit = copy_bandwidth(cuda(0));
  for (const std::int64_t size : {64 * mib, 256 * mib}) {
    double seconds = 0;
    run_ranks(
        ranks,
        [&](int rank) {
          Tensor t = zeros({size / 4}, DType::f32, cuda(0));
          barrier();
          const double mine = seconds_of_each(cuda(0), [&] { all_reduce(t); });
          if (rank == 0) seconds = mine;
          barrier();
        },
        on_backend("cuda"));
    const double ratio = 2.0 * ranks * static_cast<double>(size) / seconds / limit;
    std::cout << fmt::format("{} MiB: {:.0f} us, {:.0f} GB/s, {:.0f} % of a copy's {:.0f} GB/s\n", size / mib,
                             seconds * 1e6, ratio * limit / 1e9, ratio * 100, limit / 1e9);
    EXPECT_GE(ratio, 0.8) << size / mib << " MiB";
  }
}

// What a call costs when there is next to nothing to do: at most three times what an H100 measured
// (RESULTS.md), where a core is free for each rank and its driver's threads.
TEST_F(GpuBandwidth, SmallAllReducesTakeMicroseconds) {
  constexpr int samples = 15;
  constexpr double most = 100e-6;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const int ranks : {2, 4, 8})
    for (const std::int64_t count : {1, 1024, 16'384}) {
      std::vector<double> seconds;
      run_ranks(
          ranks,
          [&](int rank) {
            Tensor t = zeros({count}, DType::f32, cuda(0));
            for (int i = 0; i < samples; ++i) {
              barrier();
              const double mine = seconds_of_each(cuda(0), [&] { all_reduce(t); });
              if (rank == 0) seconds.push_back(mine);
            }
            barrier();
          },
          on_backend("cuda"));
      std::ranges::nth_element(seconds, seconds.begin() + samples / 2);
      const double median = seconds[samples / 2];
      std::cout << fmt::format("{} B by {} ranks: {:.1f} us\n", count * 4, ranks, median * 1e6);
      if (2 * ranks <= cores) {
        EXPECT_LE(median, most) << count * 4 << " B by " << ranks << " ranks";
      }
    }
}

}  // namespace
}  // namespace dist::test
