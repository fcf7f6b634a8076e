// A fake NCCL beside layers on the fake device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_layers.h"
#include "support/fake_nccl.h"

namespace dist::test {

// While it lives, a FakeDevice is the cuda device, layers compute on it, and a FakeNccl is the build's NCCL.
class FakeNcclOnLayers {
 public:
  explicit FakeNcclOnLayers(const FakeDeviceOptions& options = {})
      : device(options),
        nccl(std::make_shared<FakeNccl>(
            std::static_pointer_cast<FakeDevice>(device_api(DeviceType::cuda).shared_from_this()))) {
    nccl::set_library(nccl);
  }
  ~FakeNcclOnLayers() { nccl::set_library(nullptr); }
  FakeNcclOnLayers(const FakeNcclOnLayers&) = delete;
  FakeNcclOnLayers& operator=(const FakeNcclOnLayers&) = delete;
  void expect_all_is_well() const {
    EXPECT_EQ(nccl->misuse(), std::vector<std::string>{});
    EXPECT_EQ(nccl->comms_alive(), 0);
  }

  const FakeLayersGuard device;
  const std::shared_ptr<FakeNccl> nccl;
};

}  // namespace dist::test
