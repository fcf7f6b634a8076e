// The points on streams of an operation on a device.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dist/core/device.h"

namespace dist {

struct StreamEvents {
  explicit StreamEvents(Device on) : device(on), ready(on), done(on) {}
  const Device device;
  Event ready, done;  // from where its tensors may be used, and where it has ended
};

// Points that nobody has any more are used again: where threads share a GPU, to make events and to destroy
// them takes longer than all else that a small collective asks of CUDA. Of one device. Thread-safe.
class StreamEventsPool {
 public:
  // `ready` is to be recorded before anybody asks about it, and `done`.
  std::shared_ptr<StreamEvents> take(Device device);

 private:
  struct Spare {
    std::mutex mutex;
    std::vector<std::unique_ptr<StreamEvents>> points;
  };
  const std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();  // operations may outlive the pool
};

}  // namespace dist
