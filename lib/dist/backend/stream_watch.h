// StreamWatch: what becomes of operations that were enqueued on a device. Nobody waits for them on the host,
// so a thread looks whether they have ended, have taken too long, or cannot end because another rank has.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "dist/backend/operation.h"
#include "dist/core/device.h"
#include "dist/core/tasking.h"

namespace dist {

// The points of one operation on the streams: from where its tensors may be used, and where it has ended.
struct StreamPoints {
  explicit StreamPoints(Device on) : device(on), ready(on), done(on) {}
  const Device device;
  Event ready, done;
};

// Thread-safe. Its thread starts with the first operation.
class StreamWatch {
 public:
  struct Callbacks {
    std::function<void()> started;                    // first thing on the thread
    std::function<void()> wait_a_little;              // throws when a rank has gone
    std::function<void(const Operation&)> completed;  // all three on the thread
    std::function<void(const Operation&, std::exception_ptr)> failed;
  };
  explicit StreamWatch(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  ~StreamWatch();  // what has not ended is not looked at any more

  // Operations end in the order in which they are added. `points->done` has been recorded.
  void add(Operation operation, std::shared_ptr<StreamPoints> points);
  void wait_idle();

 private:
  struct Watched {
    Operation operation;
    std::shared_ptr<StreamPoints> points;
    Deadline deadline;
  };
  void loop();
  bool has_ended(const Watched& front);

  const Callbacks callbacks_;
  std::mutex mutex_;  // of all below
  Condition changed_;
  std::deque<Watched> queue_;
  bool stopping_ = false;
  Worker thread_;
};

}  // namespace dist
