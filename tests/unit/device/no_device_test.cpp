// Asking for a GPU where there is none is one line that says what to do.
#include <gtest/gtest.h>

#include "dist/core/device.h"
#include "dist/core/sanitizer.h"
#include "dist/dist.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "support/process_ranks.h"

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

// A device does not survive fork(). The child behaves as on a machine without one: its ranks run on the CPU.
TEST(NoDevice, IsInAProcessForkedFromOneThatHasAskedForIt) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  const FakeDeviceGuard of_parent;
  EXPECT_EQ(device_api(DeviceType::cuda).count(), 1);
  ProcessRanks ranks(2, [](int, const auto&) -> std::string {
    EXPECT_DIST_ERROR(zeros({3}, DType::f32, cuda(0)), Errc::unsupported, "was forked from one");
    EXPECT_DIST_ERROR(init_process_group({.backend = "cuda"}), Errc::unsupported, "was forked from one");
    init_process_group({.timeout = std::chrono::seconds(30)});
    Tensor t = ones({3}, DType::f32, get_device());
    all_reduce(t);
    const std::string result = get_backend() + " " + t.str();
    destroy_process_group();
    return testing::Test::HasFailure() ? "an expectation failed" : result;
  });
  for (const auto& report : ranks.join(std::chrono::seconds(60)))
    EXPECT_EQ(report.text, "host [2, 2, 2] f32");
  EXPECT_EQ(zeros({3}, DType::f32, cuda(0)).device(), cuda(0)) << "the parent has it as before";
}

}  // namespace
}  // namespace dist::test
