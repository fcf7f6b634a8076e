// StreamWatch: the outcome of operations that were enqueued on a device. No thread waits for them on the
// host, so this thread polls whether they have ended, have taken too long, or cannot end because another rank
// has failed. Streams of failed operations are released until they have passed them.
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
    std::function<void()> started;        // called first on the thread; the others are called there, too
    std::function<void()> wait_a_little;  // throws when a rank has gone
    // Throws when the operation cannot end any more, or has ended with an error.
    std::function<void(const Operation&)> look;
    std::function<void(const Operation&)> completed;
    std::function<void(const Operation&, std::exception_ptr)> failed;
    std::function<void()> detach;  // releases what waits for a failed operation
  };
  explicit StreamWatch(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  ~StreamWatch() { stop(); }
  void stop();  // what has not ended is not polled any more

  // Operations end in the order in which they are added. `points->done` must have been recorded.
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
  bool is_done(const Watched& front);  // whether it has succeeded
  void expect(const Watched& front);
  bool is_over(const Watched& failed);

  const Callbacks callbacks_;
  std::mutex mutex_;  // guards everything below
  Condition changed_;
  std::optional<Deadline> patience_;  // for all operations that failed; used only by the thread
  std::deque<Watched> queue_;
  bool stopping_ = false;
  Worker thread_;
};

}  // namespace dist
