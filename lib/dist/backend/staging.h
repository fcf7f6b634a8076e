// Operations on device tensors that run on the host: a copy of the operation with copies of its tensors on
// the CPU. It is the last resort: any backend of the host can run it.
#pragma once

#include <cstddef>

#include "dist/backend/operation.h"
#include "dist/core/device/registered_pages.h"

namespace dist {

// Where the copies are: memory that the ranks of a host map and that is registered with a device. Registering
// takes long, so the memory is kept, and grows.
class StagingRoom {
 public:
  explicit StagingRoom(Device device) : device_(device) {}

  // At least `bytes` of it; its old contents are lost. Where the device refuses to register it, it is
  // ordinary memory.
  std::byte* at_least(std::size_t bytes);

 private:
  const Device device_;
  Tensor memory_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  RegisteredPages registered_;  // unregistered before the memory is freed
};

class StagedOperation {
 public:
  // Copies what will be read to the host, on the current stream, and waits for that. `room`: where the copies
  // are, for one operation at a time; null: anywhere.
  explicit StagedOperation(const Operation& original, StagingRoom* room = nullptr);
  const Operation& on_host() const { return host_; }
  // Copies the results back, on the current stream, and waits for that.
  void copy_back();

 private:
  Operation original_;  // owns its tensors
  Operation host_;
};

}  // namespace dist
