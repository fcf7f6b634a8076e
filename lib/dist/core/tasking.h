// Tasking: lets ranks wait, and says what time it is. Usually that is the operating system; for virtual ranks
// it is the simulator, which is then current() on the thread that runs them. Code that waits through
// Condition, Worker, sleep() and Deadline works with both.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/clock.h"

namespace dist {

class Deadline;

// What a wait is for, so that a hang can be explained.
class WaitReason {
 public:
  virtual ~WaitReason() = default;
  virtual std::string doing() const = 0;  // "new_group({0, 1})"
  virtual CallSite where() const = 0;
  virtual std::vector<int> waits_for() const = 0;  // global ranks
};

// The waiters of a Condition; the entries belong to the Tasking that added them.
struct WaitList {
  void *first = nullptr, *last = nullptr;
};

class Tasking {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~Tasking() = default;
  virtual TimePoint now() const = 0;
  virtual void sleep_until(TimePoint when) = 0;
  // Waits until notify_all(list); returns false if the deadline passed first.
  virtual bool wait(WaitList& list, const Deadline& deadline, const WaitReason* reason) = 0;
  virtual void notify_all(WaitList& list) = 0;
  // The running rank computes for `seconds`. Throws Error{invalid_argument} for a time that no clock can
  // show.
  virtual void charge(double seconds) = 0;
  // Runs fn concurrently with the caller, for the same rank.
  virtual void start(std::function<void()> fn) = 0;
  // The running rank has reduced `bytes` bytes of `from` into `to`, or copied them. The addresses may be null
  // (sizes alone).
  virtual void reduced(const void* to, const void* from, std::size_t bytes) = 0;
  virtual void copied(const void* to, const void* from, std::size_t bytes) = 0;
  // The running rank is about to use something that ranks share besides messages: a store.
  virtual void at_store() = 0;
  // Memory for a tensor of the running rank; null if there is none. deallocate() takes this Tasking's own
  // memory.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory, std::size_t bytes) noexcept = 0;
  // Frees such memory while another Tasking runs, or none: a global tensor outlives its simulation.
  using Release = void (*)(void* memory, std::size_t bytes);
  virtual Release release() const = 0;
  std::uint64_t number() const { return number_; }  // unique among all Taskings, past ones included
  // A place for what a thread would keep in a thread_local variable, for the running fiber; empty at first.
  // Null if a thread runs.
  virtual std::shared_ptr<void>* local() { return nullptr; }

  static Tasking* current();                           // this thread's; null: the operating system
  static Tasking* exchange_current(Tasking* tasking);  // returns the previous one

 private:
  static std::uint64_t next_number();
  const std::uint64_t number_ = next_number();
};

// Like std::condition_variable. Always notifies all waiters.
class Condition {
 public:
  void wait(std::unique_lock<std::mutex>& lock);
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, Done done) {
    while (!done()) wait(lock);
  }
  // Returns false if the deadline passed before a notification came.
  bool wait_until(std::unique_lock<std::mutex>& lock, const Deadline& deadline) {
    return wait_because(nullptr, lock, deadline);
  }
  bool wait_because(const WaitReason* reason, std::unique_lock<std::mutex>& lock, const Deadline& deadline);
  // Returns done().
  template <class Done>
  bool wait_until(std::unique_lock<std::mutex>& lock, const Deadline& deadline, Done done) {
    while (!done()) {
      if (!wait_until(lock, deadline)) return done();
    }
    return true;
  }
  void notify_all();

 private:
  std::condition_variable system_;
  WaitList list_;
};

// A thread of the running rank: one of the system's, or a fiber of the simulator. Move-only.
class Worker {
 public:
  Worker() = default;
  // Throws std::system_error when the system provides no thread. fn must not throw.
  explicit Worker(std::function<void()> fn);
  bool joinable() const { return thread_.joinable() || fiber_; }
  void join();  // to be called once

 private:
  struct Fiber {
    std::mutex mutex;
    Condition changed;
    bool ended = false;
  };
  std::thread thread_;
  std::shared_ptr<Fiber> fiber_;
};

}  // namespace dist
