// Ranks that are threads, on a backend of device tensors.
#pragma once

#include <string>

#include "dist/core/device.h"

#include "support/ranks.h"

namespace dist::test {

inline RankOptions on_backend(const std::string& name) {
  RankOptions options;
  options.init.backend = name;
  return options;
}

inline RankOptions on_cuda() { return on_backend("cuda"); }
inline RankOptions on_nccl() { return on_backend("nccl"); }

inline Device device_of(int rank) { return cuda(rank % device_api(DeviceType::cuda).count()); }

}  // namespace dist::test
