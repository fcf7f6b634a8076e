// CopyBatch: the copies of receives that are posted together. They are enqueued with one launch when all
// messages have been offered, or, once all receives are posted, when those that were offered have waited for
// a moment.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "dist/direct/device/device_messages.h"

namespace dist {

// Thread-safe. Used by the messages of one batch.
class CopyBatch {
 public:
  CopyBatch(DeviceMessages& messages, Device device, int receives);
  ~CopyBatch();
  CopyBatch(const CopyBatch&) = delete;
  CopyBatch& operator=(const CopyBatch&) = delete;

  // Each receive calls one of the two. add(): returns the launch that the copy belongs to.
  std::size_t add(const TensorView& to, const TensorView& from);
  void leave();  // it needs no copy
  void seal();   // all receives are posted
  // Whether that launch has ended; launches it when it is time.
  bool has_ended(std::size_t launch);
  // Makes the device interrupt the endpoint's progress() when it has. False: it is not launched yet.
  bool wake_when_ended(std::size_t launch);
  // Makes a stream wait until the receives' buffers may be written.
  void make_wait(StreamHandle stream) const { ready_->event.make_wait(device_, stream); }

 private:
  using Clock = std::chrono::steady_clock;
  void launch_if_due();

  DeviceMessages& messages_;
  const Device device_;
  std::mutex mutex_;
  std::unique_ptr<DeviceMessages::Lane> ready_;  // its event: the receives' buffers may be written
  int missing_;                                  // receives that have neither been added nor given up
  bool sealed_ = false;
  std::vector<TensorView> tos_, froms_;  // not launched yet
  Clock::time_point since_;              // the first of these
  std::vector<std::unique_ptr<DeviceMessages::Lane>> launches_;
};

}  // namespace dist
