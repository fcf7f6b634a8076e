// A collective, or another ordered operation, that was submitted and runs on the group's progress thread.
#pragma once

#include <exception>
#include <memory>
#include <mutex>

#include "dist/backend/operation.h"
#include "dist/backend/stream_events.h"
#include "dist/backend/work.h"
#include "dist/core/tasking.h"

namespace dist {

// Where the operation runs on a stream, wait() waits on the host until everything is enqueued, then makes the
// current stream wait for the rest.
class CollectiveWork final : public WorkState {
 public:
  // `source`: for a receive, the global rank of its source.
  CollectiveWork(Operation op, std::shared_ptr<StreamEvents> on_stream, int source = -1)
      : operation(std::move(op)), points(std::move(on_stream)), source_(source) {}

  void wait(Timeout timeout) override;
  bool is_completed() override;
  int source_rank() override { return source_; }
  void finish(std::exception_ptr error);  // nullptr: success

  const Operation operation;
  const std::shared_ptr<StreamEvents> points;  // null: it runs on the host

 private:
  const int source_;
  std::mutex mutex_;
  Condition done_changed_;
  bool done_ = false;
  std::exception_ptr error_;
};

// A work keeps its error and throws copies: the thread that drops the work last frees what it keeps, while
// the caller may still read the error that it caught. To be called under the lock that guards `kept`.
std::exception_ptr copy_of(const std::exception_ptr& kept);

// Throws what wait(timeout) throws when the time is up, for every kind of operation.
[[noreturn]] void fail_wait(const Operation& operation, Timeout waited, std::string_view waits_for);

// "all_reduce #7 (4 f32) at train.cpp:41"
std::string describe(const Operation& operation);

}  // namespace dist
