// What kernels.h promises about views on a device, tested with the GPU's kernels run on the CPU.
#include "dist/core/kernels.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/sanitizer.h"
#include "dist/core/tensor.h"

#include "support/cuda_on_cpu/kernels_seen.h"
#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/slow_build.h"
#include "unit/device/kernel_cases.h"

namespace dist::test {
namespace {

class DeviceKernels : public testing::Test {
 protected:
  FakeDeviceGuard fake{FakeDeviceOptions{.count = 2}};
  const Device gpu = cuda(0);
};

// More than one pack for each thread of the largest grid, and a remainder.
constexpr std::array<std::int64_t, 5> kernel_counts{0, 1, 7, 1000, slow_build ? 20'011 : 65'537};

TEST_F(DeviceKernels, ReduceManyIsExact) { expect_exact_reductions(gpu, kernel_counts); }

TEST_F(DeviceKernels, ArithmeticIsExact) { expect_exact_arithmetic(gpu, kernel_counts); }

TEST_F(DeviceKernels, PartsAlongAxesAreExact) { expect_exact_axes(gpu); }

TEST_F(DeviceKernels, ListsOfPartsAreExact) { expect_exact_parts(gpu); }

TEST_F(DeviceKernels, ACopyToManyIsOneLaunch) {
  const Tensor in = full({1000}, 3, DType::f32, gpu);
  std::vector<Tensor> outs;
  std::vector<TensorView> views;
  for (int i = 0; i < 5; ++i) views.push_back(outs.emplace_back(zeros({1000}, DType::f32, gpu)).flat());
  const std::size_t before = fake->launches();
  copy_to_all(views, in.flat());
  EXPECT_EQ(fake->launches() - before, 1U);
  for (const Tensor& out : outs) EXPECT_TRUE(equal(out, in));
}

TEST_F(DeviceKernels, AllAreLoadedWhenThatIsAskedFor) {
  kernels_seen().forget();
  fake->load_kernels(gpu);
  EXPECT_EQ(kernels_seen().launched(), 0U);
  constexpr std::array<std::int64_t, 1> few{7};
  expect_exact_reductions(gpu, few);
  expect_exact_arithmetic(gpu, few);
  expect_exact_parts(gpu);
  EXPECT_GT(kernels_seen().launched(), 150U);
  EXPECT_TRUE(kernels_seen().all_were_loaded());
}

TEST_F(DeviceKernels, ReduceManyWantsAllOnOneDevice) {
  const Tensor here = zeros({3}), there = zeros({3}, DType::f32, gpu),
               other = zeros({3}, DType::f32, cuda(1));
  const std::array mixed{there.flat(), here.flat()}, two{there.flat(), other.flat()};
  const std::array out{there.flat()};
  EXPECT_DIST_ERROR(reduce_many(out, mixed, ReduceOp::sum), Errc::internal, "one device");
  EXPECT_DIST_ERROR(reduce_many(out, two, ReduceOp::sum), Errc::internal, "one device");
}

TEST_F(DeviceKernels, AnAllocationContainsItsTensorsParts) {
  const Tensor t = zeros({100}, DType::f32, gpu);
  const Allocation whole = fake->allocation_of(gpu, t.raw());
  const Allocation of_part = fake->allocation_of(gpu, t.narrow(40, 10).raw());
  EXPECT_EQ(of_part.base, whole.base);
  EXPECT_EQ(of_part.id, whole.id);
  EXPECT_EQ(whole.bytes, t.nbytes());
  EXPECT_NE(fake->allocation_of(cuda(1), zeros({100}, DType::f32, cuda(1)).raw()).id, whole.id);
  EXPECT_DIST_ERROR((void)fake->allocation_of(gpu, this), Errc::invalid_argument, "any block");
}

}  // namespace
}  // namespace dist::test
