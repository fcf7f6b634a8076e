// Pinned memory: host memory from which a device copies without a detour.
#pragma once

#include <memory>

#include "dist/core/tensor.h"

namespace dist::data {

// Whole pages that are registered with a device (core/registered_pages.h), kept and used again: to register
// them takes longer than to copy a batch. Thread-safe.
class PinnedMemory {
 public:
  // Error{unsupported} when there is no such device.
  explicit PinnedMemory(Device device);
  // An uninitialised tensor of the CPU, which may outlive this. Its memory is for a later one as soon as
  // nobody has it any more. Error{resource}: no memory.
  Tensor empty(Shape shape, DType dtype);

 private:
  class Pages;
  std::shared_ptr<Pages> pages_;  // shared with the tensors
};

}  // namespace dist::data
