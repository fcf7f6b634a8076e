// A time limit for calls that may block for long, because they ask a store whose server may be stopped or cut
// off.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "dist/core/deadline.h"
#include "dist/core/start_thread.h"

namespace dist {

// Calls fn on a thread of its own and waits for it, but no longer than `patience`; returns whether it ended.
// If it did not, the thread goes on with what fn holds: fn must own whatever it touches, and must not throw.
// Throws std::system_error when no thread can be started.
template <class F>
bool run_within(Timeout patience, F fn) {
  struct Ended {
    std::mutex mutex;
    std::condition_variable changed;
    bool yes = false;
  };
  const auto ended = std::make_shared<Ended>();
  std::thread thread = start_thread("a step with a time limit", [ended, fn = std::move(fn)]() mutable {
    fn();
    std::lock_guard lock(ended->mutex);
    ended->yes = true;
    ended->changed.notify_all();
  });
  std::unique_lock lock(ended->mutex);
  const bool in_time = ended->changed.wait_for(lock, patience, [&] { return ended->yes; });
  lock.unlock();
  in_time ? thread.join() : thread.detach();
  return in_time;
}

}  // namespace dist
