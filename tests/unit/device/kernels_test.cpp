// What kernels.h promises of views on a device, beyond seam/fake_device_test.cpp.
#include "dist/core/kernels.h"

#include <array>

#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

class DeviceKernels : public testing::Test {
 protected:
  FakeDeviceGuard fake{FakeDeviceOptions{.count = 2}};
  const Device gpu = cuda(0);
};

TEST_F(DeviceKernels, ReduceManyGivesWhatTheCpuGives) {
  for (const DType dtype : all_dtypes)
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::product, ReduceOp::max}) {
      if (!is_defined(op.kind(), dtype)) continue;
      const std::array inputs{tensor({6, 8, 1}).to(dtype), tensor({2, 4, 5}).to(dtype),
                              tensor({1, 0, 3}).to(dtype)};
      std::array<Tensor, 3> there;
      std::array<TensorView, 3> here_views, there_views;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        there[i] = inputs[i].to(gpu);
        here_views[i] = inputs[i].flat(), there_views[i] = there[i].flat();
      }
      reduce_many(here_views, here_views, op);
      reduce_many(there_views, there_views, op);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_TRUE(equal(there[i], inputs[i]))
            << name(op.kind()) << " of " << name(dtype) << ", output " << i;
    }
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
