#include "dist/core/tasking.h"

#include <algorithm>
#include <utility>

#include "dist/core/deadline.h"
#include "dist/core/start_thread.h"

namespace dist {
namespace {

thread_local Tasking* current_tasking = nullptr;

// Releases a lock for a scope, and takes it again even if the scope is left by an exception.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace

std::uint64_t Tasking::next_number() {
  static std::atomic<std::uint64_t> made{0};
  return ++made;
}

Tasking* Tasking::current() { return current_tasking; }
Tasking* Tasking::exchange_current(Tasking* tasking) { return std::exchange(current_tasking, tasking); }

Clock::time_point Clock::now() {
  return current_tasking ? current_tasking->now() : std::chrono::steady_clock::now();
}

void sleep(std::chrono::nanoseconds duration) {
  if (!current_tasking) return std::this_thread::sleep_for(duration);
  const auto now = current_tasking->now();
  const auto most = Clock::time_point::max() - now;
  current_tasking->sleep_until(now + std::min<std::chrono::nanoseconds>(duration, most));
}

void Condition::wait(std::unique_lock<std::mutex>& lock) {
  if (!current_tasking) return system_.wait(lock);
  const Unlocked unlocked(lock);
  current_tasking->wait(list_, Deadline::never(), nullptr);
}

bool Condition::wait_because(const WaitReason* reason, std::unique_lock<std::mutex>& lock,
                             const Deadline& deadline) {
  if (current_tasking) {
    const Unlocked unlocked(lock);
    return current_tasking->wait(list_, deadline, reason);
  }
  if (!deadline.is_never()) return system_.wait_for(lock, deadline.left()) == std::cv_status::no_timeout;
  system_.wait(lock);
  return true;
}

void Condition::notify_all() {
  if (current_tasking)
    current_tasking->notify_all(list_);
  else
    system_.notify_all();
}

Worker::Worker(std::function<void()> fn) {
  if (!current_tasking) {
    thread_ = start_thread("a worker", std::move(fn));
    return;
  }
  fiber_ = std::make_shared<Fiber>();
  current_tasking->start([fiber = fiber_, fn = std::move(fn)] {
    fn();
    const std::lock_guard lock(fiber->mutex);
    fiber->ended = true;
    fiber->changed.notify_all();
  });
}

void Worker::join() {
  if (thread_.joinable()) return thread_.join();
  const auto fiber = std::move(fiber_);
  std::unique_lock lock(fiber->mutex);
  fiber->changed.wait(lock, [&] { return fiber->ended; });
}

}  // namespace dist
