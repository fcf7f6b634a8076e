// A send or receive under way. acquire() and release() let one thread at a time use the transport; wait()
// waits in slices, because another thread may move the data; end_transfer() keeps the result; give_up() and
// cancel() end a message early.
#include "dist/backend/message_work.h"

#include <algorithm>

#include "dist/backend/collective_work.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/trace/profiler.h"

namespace dist {

Message message_of(const Operation& operation) {
  const bool is_send = operation.kind == OpKind::send;
  return {is_send, is_send ? operation.inputs[0] : operation.outputs[0], operation.peer};
}

MessageWork::MessageWork(Operation op, std::unique_ptr<Transport> transport, std::shared_ptr<Mover> mover,
                         OperationObserver* observer, Members members)
    : operation(std::move(op)),
      transport_(std::move(transport)),
      mover_(std::move(mover)),
      observer_(observer),
      members_(std::move(members)) {
  try {
    request_ = start(*transport_, message_of(operation));
    is_short_ = request_.is_short();
  } catch (...) {
    end(observer_->failed(operation, std::current_exception()));
  }
}

MessageWork::MessageWork(Operation op, std::exception_ptr error)
    : operation(std::move(op)), done_(true), error_(std::move(error)) {}  // NOLINT(*-throw-keyword-missing)

bool MessageWork::acquire(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!released_.wait_until(lock, deadline, [this] { return !in_use_; })) return false;
  in_use_ = true;
  return true;
}

void MessageWork::release() {
  {
    std::lock_guard lock(mutex_);
    in_use_ = false;
  }
  released_.notify_all();
}

void MessageWork::end(std::exception_ptr error) {
  request_ = Request();
  transport_.reset();  // a Work may be kept long after its group
  std::lock_guard lock(mutex_);
  done_ = true;
  error_ = std::move(error);
}

void MessageWork::end_transfer() {
  try {
    const int peer = request_.wait();
    if (operation.kind == OpKind::recv) source_ = members_[peer];
    observer_->completed(operation);
    end(nullptr);
  } catch (...) {
    end(observer_->failed(operation, std::current_exception()));
  }
}

void MessageWork::wait(Timeout timeout) {
  const ProfilerRange range([&] { return "wait: " + operation.doing(); });
  const Deadline deadline = Deadline::after(timeout);
  if (!acquire(deadline)) fail_wait(operation, timeout, peer_name());
  if (!done_) {
    try {
      deadline.is_never() ? end_transfer() : wait_in_slices(deadline, timeout);
    } catch (...) {
      release();
      throw;
    }
  }
  const auto error = copy_of(error_);
  release();
  if (error) std::rethrow_exception(error);
}

bool MessageWork::is_ready() noexcept {
  try {
    return request_.is_completed();
  } catch (...) {
    return true;  // the request's wait() throws the error again
  }
}

std::string MessageWork::peer_name() const {
  return operation.peer == any_rank ? "any rank" : fmt::format("rank {}", members_[operation.peer]);
}

void MessageWork::wait_in_slices(Deadline deadline, Timeout timeout) {
  constexpr Timeout slice = std::chrono::milliseconds(5);  // another thread may already have moved the data
  while (!is_ready()) {
    if (deadline.passed()) fail_wait(operation, timeout, peer_name());
    mover_->progress(std::min(slice, deadline.left()));
  }
  end_transfer();
}

bool MessageWork::is_completed() {
  {
    std::lock_guard lock(mutex_);
    if (done_) return true;
    if (in_use_) return false;
    in_use_ = true;
  }
  if (is_ready()) end_transfer();
  const bool completed = done_;
  release();
  return completed;
}

bool MessageWork::has_ended() {
  std::lock_guard lock(mutex_);
  return done_;
}

bool MessageWork::is_left_alone() {
  std::lock_guard lock(mutex_);
  return !done_ && !in_use_;
}

int MessageWork::source_rank() {
  std::lock_guard lock(mutex_);
  return done_ ? source_ : -1;
}

bool MessageWork::give_up(const std::string& reason) {
  // A thread that polls the message has it for a moment; one that waits for it keeps it.
  constexpr Timeout longest_poll = std::chrono::milliseconds(20);
  if (!acquire(Deadline::after(longest_poll))) return false;
  const bool is_pending = !done_;
  if (is_pending) abort(reason);
  release();
  return is_pending;
}

void MessageWork::cancel(const std::string& reason, Deadline deadline) {
  if (!acquire(deadline)) return;
  if (!done_) abort(reason);
  release();
}

void MessageWork::abort(const std::string& reason) {
  request_ = Request();
  Error error(Errc::aborted,
              fmt::format("rank {}: {} was given up: {}", current_rank_label(), describe(operation), reason));
  end(observer_->failed(operation, std::make_exception_ptr(std::move(error))));
}

}  // namespace dist
