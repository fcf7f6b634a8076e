// LeaderLock: how the threads of one rank share its lock and its polling. Of the threads that wait, one holds
// the leader lock: it polls, and sleeps in the kernel for all. The others sleep here until something ended,
// and look again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "dist/core/biased_lock.h"
#include "dist/core/deadline.h"

namespace dist::net {

// A rank is mostly one thread, and takes it for every message.
using RankMutex = BiasedLock<std::mutex>;
using Lock = std::unique_lock<RankMutex>;

class LeaderLock {
 public:
  Lock enter() {
    Lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      ++contenders_;
      lock.lock();
      --contenders_;
    }
    return lock;
  }

  // Blocks until done(), a predicate under the lock, or the deadline: then false. `lead` is called to poll in
  // the meantime, lead(lock, done, deadline), and answers as await does.
  template <class Done, class Lead>
  bool await(Lock& lock, const Done& done, Deadline deadline, const Lead& lead) {
    while (!done()) {
      if (is_taken_) {
        if (!wait_for_event(lock, deadline)) return done();
        continue;
      }
      const Leader leader(*this, lock);
      return lead(lock, done, deadline);
    }
    return true;
  }

  bool is_taken() const { return is_taken_; }

  // Sleeps until the next wake_all(). False: the deadline passed.
  bool wait_for_event(Lock& lock, Deadline deadline = Deadline::never()) {
    const std::uint64_t before = event_;
    ++waiting_;
    bool in_time = true;
    while (event_ == before && in_time) {
      if (deadline.is_never()) {
        changed_.wait(lock);
      } else {
        in_time = changed_.wait_for(lock, deadline.left()) != std::cv_status::timeout || !deadline.passed();
      }
    }
    if (event_ == before)
      --waiting_;
    else
      --contenders_;
    return event_ != before;
  }

  // Under the lock: something ended.
  void wake_all() {
    if (waiting_ == 0) return;
    ++event_;
    contenders_ += waiting_;
    waiting_ = 0;
    changed_.notify_all();
  }

  // A leader that looks again and again calls it to let others have the lock.
  void let_others_in(Lock& lock) {
    if (contenders_.load(std::memory_order_relaxed) == 0) return;
    lock.unlock();
    for (int i = 0; i < 100 && contenders_.load(std::memory_order_relaxed) > 0; ++i)
      std::this_thread::yield();
    lock.lock();
  }

 private:
  // While it lives: also when an exception ends it, somebody else leads then.
  struct Leader {
    Leader(LeaderLock& of, Lock& lock) : leader_lock(of), held(lock) { leader_lock.is_taken_ = true; }
    ~Leader() {
      if (!held) held.lock();
      leader_lock.is_taken_ = false;
      leader_lock.wake_all();
    }
    Leader(const Leader&) = delete;
    Leader& operator=(const Leader&) = delete;
    LeaderLock& leader_lock;
    Lock& held;
  };

  RankMutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<int> contenders_{0};  // threads that want the lock now
  bool is_taken_ = false;
  int waiting_ = 0;
  std::uint64_t event_ = 0;
};

}  // namespace dist::net
