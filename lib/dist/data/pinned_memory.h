// Pinned memory: host memory from which a device copies without a detour.
#pragma once

#include <memory>

#include "dist/core/tensor.h"

namespace dist::data {

// Whole pages that are registered with a device (core/registered_pages.h), kept and reused: registering them
// takes longer than copying a batch. Thread-safe.
class PinnedMemory {
 public:
  // Throws Error{unsupported} if there is no such device.
  explicit PinnedMemory(Device device);
  // An uninitialised tensor on the CPU, which may outlive this. Its memory is reused as soon as no tensor is
  // over it any more. Throws Error{resource} if there is no memory.
  Tensor empty(Shape shape, DType dtype);

 private:
  class Pages;
  std::shared_ptr<Pages> pages_;  // shared with the tensors
};

}  // namespace dist::data
