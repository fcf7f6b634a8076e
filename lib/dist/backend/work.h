// Work: an operation that was started, as torch.distributed's Work.
#pragma once

#include <exception>
#include <memory>

#include "dist/core/deadline.h"

namespace dist {

// What a backend implements for operations that it runs asynchronously. Thread-safe.
class WorkState {
 public:
  virtual ~WorkState() = default;
  // Blocks until the operation is done. When `timeout` passes first, throws Error{timeout}, and the operation
  // goes on. Throws the operation's error at every call.
  virtual void wait(Timeout timeout) = 0;
  // Does not block.
  virtual bool is_completed() = 0;
  virtual int source_rank() { return -1; }  // after a receive: the global rank of its source
};

// A cheap handle that can be copied. Do not touch the operation's buffers before wait() has returned. A
// synchronous call returns a Work that is already complete.
class Work {
 public:
  Work() = default;  // complete
  // For backends; programs get a Work from the operations.
  explicit Work(std::shared_ptr<WorkState> state) : state_(std::move(state)) {}
  // A receive that has ended: `source_rank` is its source, a global rank.
  explicit Work(int source_rank) : source_rank_(source_rank) {}

  // Blocks until the operation is done; throws its error. For a device tensor it makes the current stream
  // wait instead.
  void wait() { wait(no_timeout); }
  // As above, but throws Error{timeout} when `timeout` passes first; the operation goes on, and may be waited
  // for again.
  void wait(Timeout timeout) {
    if (state_) state_->wait(timeout);
  }
  // Whether wait() would return or throw at once. Does not block.
  bool is_completed() { return !state_ || state_->is_completed(); }
  // The error that wait() throws; null while the operation goes on, and after it has succeeded. Does not
  // block.
  std::exception_ptr exception();
  // Whether it has ended, and without an error. Does not block.
  bool is_success() { return is_completed() && !exception(); }
  // After a receive has completed: the global rank it came from; otherwise -1.
  int source_rank() const { return state_ ? state_->source_rank() : source_rank_; }

 private:
  std::shared_ptr<WorkState> state_;
  int source_rank_ = -1;  // used where there is no state
};

}  // namespace dist
