// The thread that watches enqueued operations (loop). has_ended() reports the front operation's end or
// failure; expect() applies its timeout; after a failure is_over() releases the stream again and again until
// it has passed the operation.
#include "dist/backend/stream_watch.h"

#include <utility>

#include "dist/backend/collective_work.h"
#include "dist/backend/liveness_probe.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"
#include "dist/core/tasking.h"

namespace dist {

namespace {
// How long a stream may take to pass released work: kernels that run on, or work of another owner.
constexpr Timeout passing_time = std::chrono::seconds(2);
constexpr Timeout rest = std::chrono::microseconds(500);
}  // namespace

void StreamWatch::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) std::exchange(thread_, Worker()).join();
}

void StreamWatch::add(Operation operation, std::shared_ptr<StreamEvents> points) {
  operation.own_tensors();  // because it may still be asked what they were
  const Deadline deadline = Deadline::after(operation.timeout);
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back({std::move(operation), std::move(points), deadline});
    if (!thread_.joinable()) thread_ = Worker([this] { loop(); });
  }
  changed_.notify_all();
}

void StreamWatch::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty(); });
}

// The front stays in the queue while it is checked: other threads only add behind it.
void StreamWatch::loop() {
  callbacks_.started();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Watched& front = queue_.front();
    lock.unlock();
    const bool ended = has_ended(front);
    if (ended) const Watched gone = std::move(front);  // its tensors are freed here, which may take a while
    lock.lock();
    if (!ended) continue;
    queue_.pop_front();
    if (queue_.empty()) changed_.notify_all();
  }
}

bool StreamWatch::has_ended(Watched& front) {
  if (front.has_failed) return is_over(front);
  try {
    if (!is_done(front)) {
      callbacks_.wait_a_little();
      expect(front);
      return false;
    }
    callbacks_.completed(front.operation);
    return true;
  } catch (...) {
    callbacks_.failed(front.operation, std::current_exception());
  }
  front.has_failed = true;
  if (!patience_) patience_ = Deadline::after(passing_time);
  return false;
}

// When a rank dies, its memory and connections go, and what used them breaks. Then the death is the reason.
bool StreamWatch::is_done(const Watched& front) {
  try {
    const bool done = front.points->done.is_done();
    callbacks_.look(front.operation);  // after is_done(): a release is announced first
    return done;
  } catch (const Error&) {
    // Only for the first operation that fails: what comes after it fails for the same reason.
    if (!patience_) await_death(callbacks_.wait_a_little);
    callbacks_.look(front.operation);
    throw;
  }
}

void StreamWatch::expect(const Watched& front) {
  if (!front.deadline.passed()) return;
  fail(Errc::timeout,
       "rank {}: {} has not ended on {} in {} ms; do all ranks call it, and are their devices alive?",
       current_rank_label(), describe(front.operation), front.points->device.str(),
       std::chrono::duration_cast<std::chrono::milliseconds>(front.operation.timeout).count());
}

// Streams of other ranks may undo what has released this one, so it is done again.
bool StreamWatch::is_over(const Watched& failed) {
  callbacks_.detach();
  try {
    if (failed.points->done.is_done()) return true;
  } catch (const Error&) {
    return true;  // the device is broken
  }
  dist::sleep(rest);
  return patience_->passed();
}

}  // namespace dist
