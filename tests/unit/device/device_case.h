// What a sweep over devices tries: ranks, how they are notified that work has ended, and the device they run
// on.
#pragma once

#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fake_device.h"

namespace dist::test {

struct DeviceCase {
  std::string label, sync;  // sync: DIST_CUDA_SYNC
  int ranks = 1;
  FakeDeviceOptions fake = {};
  friend void PrintTo(const DeviceCase& c, std::ostream* out) {
    *out << c.label << " " << c.sync << " " << c.ranks;
  }
};

inline std::string name_of(const testing::TestParamInfo<DeviceCase>& test) {
  return fmt::format("{}_{}_{}", test.param.label, test.param.sync, test.param.ranks);
}

}  // namespace dist::test
