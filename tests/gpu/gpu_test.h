// What the tests on a GPU have in common: where there is none they are skipped, where there is one that
// cannot be used they fail.
#pragma once

#include <filesystem>

#include <gtest/gtest.h>

namespace dist::test {

// Whether the driver has put its files here, as bench.sh and sanitizer.sh ask. CUDA is not asked: a process
// that starts ranks by fork() must not touch it.
inline bool has_gpu() {
  return std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg");
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU: neither /dev/nvidiactl nor /dev/dxg is there";
  }
};

}  // namespace dist::test
