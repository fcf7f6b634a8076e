// Asking for a GPU where there is none is one line that says what to do.
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

bool has_gpu() {
  try {
    return device_api(DeviceType::cuda).count() > 0;
  } catch (const Error&) {
    return false;
  }
}

TEST(NoDevice, EveryWayToAskForOneSaysTheSame) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  const Tensor here = zeros({3});
  EXPECT_DIST_ERROR(device_api(DeviceType::cuda), Errc::unsupported, "keep tensors on the cpu");
  EXPECT_DIST_ERROR(here.to(cuda(0)), Errc::unsupported, "keep tensors on the cpu");
  EXPECT_DIST_ERROR(zeros({3}, DType::f32, cuda(1)), Errc::unsupported, "keep tensors on the cpu");
  EXPECT_DIST_ERROR(tensor({1, 2}, cuda(0)), Errc::unsupported, "keep tensors on the cpu");
  EXPECT_DIST_ERROR(Stream(cuda(0)), Errc::unsupported, "keep tensors on the cpu");
  EXPECT_EQ(here.to(cpu).str(), "[0, 0, 0] f32");
}

}  // namespace
}  // namespace dist::test
