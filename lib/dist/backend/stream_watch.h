// StreamWatch: what becomes of operations that were enqueued on a device. Nobody waits for them on the host,
// so a thread looks whether they have ended, have taken too long, or cannot end because another rank has.
// Those that have failed are let go until their stream has passed them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "dist/backend/collective_work.h"
#include "dist/backend/operation.h"
#include "dist/core/device.h"
#include "dist/core/tasking.h"

namespace dist {

// Thread-safe. Its thread starts with the first operation.
class StreamWatch {
 public:
  struct Callbacks {
    std::function<void()> started;        // first thing on the thread; the others are called there too
    std::function<void()> wait_a_little;  // throws when a rank has gone
    // Throws when the operation cannot end any more, or, having ended, not well.
    std::function<void(const Operation&)> look;
    std::function<void(const Operation&)> completed;
    std::function<void(const Operation&, std::exception_ptr)> failed;
    std::function<void()> detach;  // what failed must not be waited for
  };
  explicit StreamWatch(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  ~StreamWatch() { stop(); }
  void stop();  // what has not ended is not looked at any more

  // Operations end in the order in which they are added. `points->done` has been recorded.
  void add(Operation operation, std::shared_ptr<StreamEvents> points);
  void wait_idle();

 private:
  struct Watched {
    Operation operation;
    std::shared_ptr<StreamEvents> points;
    Deadline deadline;
    bool has_failed = false;
  };
  void loop();
  bool has_ended(Watched& front);
  bool is_done(const Watched& front);  // and well
  void expect(const Watched& front);
  bool is_over(const Watched& failed);

  const Callbacks callbacks_;
  std::mutex mutex_;  // of all below
  Condition changed_;
  std::optional<Deadline> patience_;  // with all that has failed; only the thread's
  std::deque<Watched> queue_;
  bool stopping_ = false;
  Worker thread_;
};

}  // namespace dist
