#include "dist/backend/collective_work.h"

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/trace/profiler.h"

namespace dist {

void CollectiveWork::wait(Timeout timeout) {
  const ProfilerRange range([&] { return "wait: " + operation.doing(); });
  std::unique_lock lock(mutex_);
  const auto done = [this] { return done_; };
  if (!done_changed_.wait_until(lock, Deadline::after(timeout), done))
    fail_wait(operation, timeout, "the other ranks");
  if (const auto error = copy_of(error_)) std::rethrow_exception(error);
  if (points) points->done.make_wait(points->device, current_stream(points->device));
}

bool CollectiveWork::is_completed() {
  std::lock_guard lock(mutex_);
  return done_ && (!points || error_ || points->done.is_done());
}

void CollectiveWork::finish(std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    done_ = true;
    error_ = std::move(error);
  }
  done_changed_.notify_all();
}

std::exception_ptr copy_of(const std::exception_ptr& kept) {
  if (!kept) return nullptr;
  try {
    std::rethrow_exception(kept);
  } catch (const Error& error) {
    return std::make_exception_ptr(Error(error.code(), std::string(error.what())));
  } catch (...) {
    return kept;
  }
}

void fail_wait(const Operation& operation, Timeout waited, std::string_view waits_for) {
  fail(Errc::timeout,
       "rank {}: wait() for {} gave up after {} ms: it waits for {}; the operation itself goes on",
       current_rank_label(), describe(operation),
       std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), waits_for);
}

std::string describe(const Operation& operation) {
  return fmt::format("{} at {}", operation.doing(), operation.where.str());
}

}  // namespace dist
