// Work: an operation that was issued. As torch.distributed's.
#pragma once

#include <memory>

#include "dist/core/deadline.h"

namespace dist {

// What a backend implements for the operations it runs asynchronously. Thread-safe.
class WorkState {
 public:
  virtual ~WorkState() = default;
  // Blocks until done or until `timeout` has passed: then Error{timeout}, and the operation goes on.
  // Rethrows the operation's error, each time.
  virtual void wait(Timeout timeout) = 0;
  // Does not block.
  virtual bool is_completed() = 0;
  virtual int source_rank() { return -1; }  // of a completed receive: global rank
};

// A cheap, copyable handle. Buffers of the operation may be touched only after wait(). A synchronous call
// returns one that has already waited.
class Work {
 public:
  Work() = default;  // completed
  // A backend's; programs get theirs from the calls.
  explicit Work(std::shared_ptr<WorkState> state) : state_(std::move(state)) {}
  // Of a receive that has ended: its source.
  explicit Work(int source_rank) : source_rank_(source_rank) {}

  // Blocks until the operation is done; throws its error. Of a stream: the current one waits.
  void wait() { wait(no_timeout); }
  // As above, but throws Error{timeout} when that has passed; the operation goes on.
  void wait(Timeout timeout) {
    if (state_) state_->wait(timeout);
  }
  // Whether wait() would return at once. Does not block.
  bool is_completed() { return !state_ || state_->is_completed(); }
  // Of a completed receive: from which global rank; otherwise -1.
  int source_rank() const { return state_ ? state_->source_rank() : source_rank_; }

 private:
  std::shared_ptr<WorkState> state_;
  int source_rank_ = -1;  // without a state
};

}  // namespace dist
