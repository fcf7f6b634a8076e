// What a sweep over devices tries: ranks, how they hear that work has ended, and the device they run on.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/core/sanitizer.h"
#include "dist/core/types.h"

#include "support/fake_device.h"

namespace dist::test {

// Element types and sizes of a sweep. Which threads meet, and where, does not depend on the type; and every
// type has its kernels' own tests, which sanitizers see as well.
inline std::vector<DType> swept_dtypes() {
  if (built_with_tsan) return {DType::f32};
  if (built_with_asan) return {DType::f32, DType::u8};
  return {DType::f32, DType::i64, DType::bf16, DType::u8};
}
inline std::vector<std::int64_t> swept_counts(const std::vector<std::int64_t>& all) {
  return built_with_tsan ? std::vector{all.back()} : all;
}

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
