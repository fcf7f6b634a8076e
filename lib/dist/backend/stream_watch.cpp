#include "dist/backend/stream_watch.h"

#include <utility>

#include "dist/backend/collective_work.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist {

StreamWatch::~StreamWatch() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StreamWatch::add(Operation operation, std::shared_ptr<StreamPoints> points) {
  operation.own_tensors();  // somebody may still ask what they were
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

// The front stays in the queue while it is looked at: others only add behind it.
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

bool StreamWatch::has_ended(const Watched& front) {
  try {
    if (front.points->done.is_done()) {
      callbacks_.completed(front.operation);
      return true;
    }
    callbacks_.wait_a_little();
    if (!front.deadline.passed()) return false;
    fail(Errc::timeout,
         "rank {}: {} has not ended on {} in {} ms; do all ranks call it, and are their devices alive?",
         current_rank_label(), describe(front.operation), front.points->device.str(),
         std::chrono::duration_cast<std::chrono::milliseconds>(front.operation.timeout).count());
  } catch (...) {
    callbacks_.failed(front.operation, std::current_exception());
  }
  return true;
}

}  // namespace dist
