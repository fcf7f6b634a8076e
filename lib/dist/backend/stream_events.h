// The events on streams that belong to an operation on a device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dist/core/device.h"

namespace dist {

struct StreamEvents {
  explicit StreamEvents(Device on) : device(on), ready(on), done(on) {}
  const Device device;
  Event ready, done;  // when its tensors may be used, and when it has ended
};

// Events that have no owner any more are used again: where threads share a GPU, making and destroying events
// takes longer than everything else that a small collective needs from CUDA. For one device. Thread-safe.
class StreamEventsPool {
 public:
  // `ready` must be recorded before it is queried, and so must `done`.
  std::shared_ptr<StreamEvents> take(Device device);

 private:
  struct Spare {
    std::mutex mutex;
    std::vector<std::unique_ptr<StreamEvents>> points;
  };
  const std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();  // operations may outlive the pool
};

}  // namespace dist
