// Operations on device tensors that run on the host: a twin of the operation with copies of its tensors on
// the CPU. The way of last resort: any backend of the host can run it.
#pragma once

#include <cstddef>
#include <memory>

#include "dist/backend/operation.h"
#include "dist/core/device.h"

namespace dist {

// Host memory that is registered with a device, so that copies from and to it need no detour; the ranks of a
// host map it. Registering takes long, so it is kept, and grows.
class PinnedMemory {
 public:
  explicit PinnedMemory(Device device);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  // So much of it; what was there is lost. Where the device refuses it, it is memory as any other.
  std::byte* at_least(std::size_t bytes);

 private:
  void let_go() noexcept;

  const std::shared_ptr<DeviceApi> api_;
  const Device device_;
  Tensor memory_;
  std::byte* pages_ = nullptr;
  std::size_t bytes_ = 0;
  bool registered_ = false;
};

class StagedOperation {
 public:
  // Copies what will be read to the host, on the current stream, and waits for it. `pinned`: where the copies
  // lie, for one operation at a time; null: anywhere.
  explicit StagedOperation(const Operation& original, PinnedMemory* pinned = nullptr);
  const Operation& on_host() const { return host_; }
  // Copies the results back, on the current stream, and waits for it.
  void copy_back();

 private:
  Operation original_;  // owns its tensors
  Operation host_;
};

}  // namespace dist
