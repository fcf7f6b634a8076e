// Layers on the fake device: each call of Ops is a piece of work for the current stream, which runs the
// kernels for GPUs on the CPU, and plain loops for what cuBLAS and cuDNN do.
#pragma once

#include <memory>

#include "dist/nn/ops.h"

#include "support/fake_device.h"

namespace dist::test {

// A FakeDevice is the cuda device while it lives, and layers compute on it.
class FakeLayersGuard {
 public:
  explicit FakeLayersGuard(const FakeDeviceOptions& options = {});
  ~FakeLayersGuard();
  FakeLayersGuard(const FakeLayersGuard&) = delete;
  FakeLayersGuard& operator=(const FakeLayersGuard&) = delete;
  FakeDevice* operator->() const { return device_.operator->(); }

 private:
  FakeDeviceGuard device_;
  std::unique_ptr<const nn::Ops> ops_;
};

}  // namespace dist::test
