// Tasking: who lets ranks wait, and what time it is. Usually the operating system; where ranks are virtual
// the simulator, which then is current() on the thread that runs them. Code that waits through Condition,
// Worker, sleep() and Deadline works in both.
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

namespace dist {

class Deadline;

// What a wait is for, so that a standstill can be explained.
class WaitReason {
 public:
  virtual ~WaitReason() = default;
  virtual std::string doing() const = 0;  // "new_group({0, 1})"
  virtual CallSite where() const = 0;
  virtual std::vector<int> waits_for() const = 0;  // global ranks
};

// Who waits on a Condition; belongs to the Tasking that put them there.
struct WaitList {
  void *first = nullptr, *last = nullptr;
};

class Tasking {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~Tasking() = default;
  virtual TimePoint now() const = 0;
  virtual void sleep_until(TimePoint when) = 0;
  // Until notify_all(list); false when the deadline passed first.
  virtual bool wait(WaitList& list, const Deadline& deadline, const WaitReason* reason) = 0;
  virtual void notify_all(WaitList& list) = 0;
  // The running rank works for so long. Error{invalid_argument} for what no clock can show.
  virtual void charge(double seconds) = 0;
  // Runs fn beside the caller, for the same rank.
  virtual void start(std::function<void()> fn) = 0;
  // The running rank has reduced so many bytes of `from` into `to`, or copied them. The addresses may be null
  // (sizes alone).
  virtual void reduced(const void* to, const void* from, std::size_t bytes) = 0;
  virtual void copied(const void* to, const void* from, std::size_t bytes) = 0;
  // The running rank is about to use something that ranks share beside messages: a store.
  virtual void at_store() = 0;
  // Memory for a tensor of the running rank; null when there is none. deallocate() takes this Tasking's own.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory, std::size_t bytes) noexcept = 0;
  // What frees such memory when another Tasking runs, or none: a global tensor outlives its simulation.
  using Release = void (*)(void* memory, std::size_t bytes);
  virtual Release release() const = 0;
  std::uint64_t number() const { return number_; }  // of no other Tasking, also of one that has gone
  // A place for what a thread has in a thread_local variable, of the running fiber; empty at first. Null
  // where what runs is a thread.
  virtual std::shared_ptr<void>* local() { return nullptr; }

  static Tasking* current();                           // of this thread; null: the operating system
  static Tasking* exchange_current(Tasking* tasking);  // returns the one before

 private:
  static std::uint64_t next_number();
  const std::uint64_t number_ = next_number();
};

// The steady clock; the virtual one under a Tasking.
struct Clock {
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  static time_point now();
};

// Sleeps; under a simulator virtually, which costs no real time: Error{invalid_argument} where its clock
// would pass 2e6 s (simulate.h). Programs use it instead of std::this_thread::sleep_for.
void sleep(std::chrono::nanoseconds duration);

// As std::condition_variable. Always notifies all.
class Condition {
 public:
  void wait(std::unique_lock<std::mutex>& lock);
  template <class Done>
  void wait(std::unique_lock<std::mutex>& lock, Done done) {
    while (!done()) wait(lock);
  }
  // False when the deadline has passed and nobody had notified.
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

// A thread of the running rank: of the system, or a fiber of the simulator. Move-only.
class Worker {
 public:
  Worker() = default;
  // Throws std::system_error when there is no thread. fn must not throw.
  explicit Worker(std::function<void()> fn);
  bool joinable() const { return thread_.joinable() || fiber_; }
  void join();  // once

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
