// The real GPU does what the CPU does: kernels, memory, streams, flags, and the cuda and nccl backends with
// ranks as threads. gpu/processes_test.cpp runs them as processes.
#include "dist/core/device.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/dist.h"

#include "gpu/gpu_test.h"
#include "support/expect_error.h"
#include "support/ranks.h"
#include "unit/device/device_sweep.h"
#include "unit/device/kernel_cases.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

class Gpu : public GpuTest {
 protected:
  const Device gpu = cuda(0);
};

// Awkward sizes. NCCL's own kernel for one rank leaves out the end of 2^20 + 1 elements.
constexpr std::array<std::int64_t, 7> counts{0, 1, 7, 1000, 65'537, 1'000'003, 1'048'577};

TEST_F(Gpu, ReduceManyIsExact) { expect_exact_reductions(gpu, counts); }

TEST_F(Gpu, ArithmeticIsExact) { expect_exact_arithmetic(gpu, counts); }

TEST_F(Gpu, ListsOfPartsAreExact) { expect_exact_parts(gpu); }

TEST_F(Gpu, PartsAlongAxesAreExact) { expect_exact_axes(gpu); }

TEST_F(Gpu, StreamsMeetByFlags) {
  DeviceApi& api = device_api(DeviceType::cuda);
  if (!api.has_flags(gpu)) GTEST_SKIP() << "this device has no 64-bit stream memory operations";
  const std::unique_ptr<void, decltype(&std::free)> page(std::aligned_alloc(4096, 4096), &std::free);
  auto* const flag =
      new (static_cast<std::byte*>(page.get()) + 192) StreamFlag(0);  // as most tensors do, not at its start
  api.register_host(gpu, page.get(), 4096);
  api.load_kernels(gpu);
  const Stream a(gpu), b(gpu);
  const Tensor data = zeros({1000}, DType::f32, gpu), seen = zeros({1000}, DType::f32, gpu);
  api.synchronize(gpu, nullptr);
  {
    const StreamGuard guard(gpu, b.handle());
    api.wait_flag(gpu, b.handle(), flag, 7);
    copy(seen.flat(), data.flat());
  }
  Event passed(gpu);
  passed.record(b.handle());
  EXPECT_FALSE(passed.is_done());
  {
    const StreamGuard guard(gpu, a.handle());
    fill(data.flat(), 3);
    api.write_flag(gpu, a.handle(), flag, 7);
  }
  passed.synchronize();
  EXPECT_EQ(sum(seen), 3000);
  api.unregister_host(gpu, page.get());
}

// Without this, its work would run on the first device, and no error would say so.
TEST_F(Gpu, ADeviceThatCannotBeUsedIsAnError) {
  DeviceApi& api = device_api(DeviceType::cuda);
  EXPECT_DIST_ERROR((void)api.make_event(cuda(api.count())), Errc::internal, "cudaSetDevice on cuda:");
}

TEST_F(Gpu, MemoryThatIsMissingIsNamed) {
  EXPECT_DIST_ERROR(empty({std::int64_t{1} << 50}, DType::u8, gpu), Errc::resource, "cudaMalloc");
}

TEST_F(Gpu, CollectivesOfThreadRanksAreExact) {
  RankOptions options;
  options.init.backend = "cuda";
  for (const int n : {1, 2, 4, 8})
    run_ranks(
        n,
        [](int rank) {
          const Device mine = cuda(rank % device_api(DeviceType::cuda).count());
          for (const DType dtype : {DType::f32, DType::bf16, DType::i64})
            for (const std::int64_t count : counts) sweep_collectives(mine, count, dtype);
          sweep_collectives(mine, 1000, DType::f32, {.async_op = true});
        },
        options);
}

// Ring and trees, by copies out of the others' memory.
TEST_F(Gpu, AlgorithmsByMessagesAreExact) {
  for (const char* sync : {"events", "flags", "host"}) {
    const ScopedEnv by("DIST_CUDA_SYNC", sync);
    run_ranks(
        5,
        [](int rank) {
          const Device mine = cuda(rank % device_api(DeviceType::cuda).count());
          for (const char* algorithm : {"ring", "ring_segmented", "tree", "double_binary_tree"})
            for (const std::int64_t count : counts)
              expect_as_on_cpu(algorithm, mine, [&](Device at) {
                Tensor t = contribution(rank, count, DType::f32, at);
                all_reduce(t, ReduceOp::sum, {.algorithm = algorithm});
                return std::vector{t};
              });
        },
        on_backend("cuda"));
  }
}

// What compute-sanitizer looks at, under which a kernel takes a hundred times as long.
TEST_F(Gpu, AShortSweepIsExact) {
  run_ranks(
      2,
      [](int rank) {
        for (const DType dtype : {DType::f32, DType::bf16})
          for (const std::int64_t count : {7, 20'003}) sweep_collectives(device_of(rank), count, dtype);
      },
      on_backend("cuda"));
}

// NCCL with a rank for each GPU.
TEST_F(Gpu, CollectivesByNcclAreExact) {
  RankOptions options;
  options.init.backend = "nccl";
  const int gpus = device_api(DeviceType::cuda).count();
  for (const int n : {1, 2, 4, 8}) {
    if (n > gpus) break;
    run_ranks(
        n,
        [n](int rank) {
          for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::u8})
            for (const std::int64_t count : counts)
              sweep_collectives(cuda(rank), count, dtype, {}, Sweep::without_bit_operations);
          sweep_collectives(cuda(rank), 1000, DType::f32, {.async_op = true}, Sweep::without_bit_operations);
          const ProcessGroup half = split_group(rank % 2, -rank);  // by ncclCommSplit
          Tensor t = ones({1000}, DType::f32, cuda(rank));
          all_reduce(t, ReduceOp::sum, {.group = half});
          EXPECT_EQ(sum(t), 1000 * half.size());
          EXPECT_EQ(half.size(), (n + 1 - rank % 2) / 2);
        },
        options);
  }
}

}  // namespace
}  // namespace dist::test
