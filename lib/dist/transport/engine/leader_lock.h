// LeaderLock: how the threads of one rank share its lock and its polling. One of the waiting threads is the
// leader: it polls, and sleeps in the kernel for all of them. The others sleep here until some transfer has
// ended, and check again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "dist/core/biased_lock.h"
#include "dist/core/deadline.h"

namespace dist::net {

// A rank mostly runs one thread, which takes the lock for every message: so the lock is biased to that
// thread.
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

  // For the leader, which slept without it.
  void enter_again(Lock& lock) {
    ++contenders_;
    lock.lock();
    --contenders_;
  }

  // Blocks until done(), a predicate under the lock, or until the deadline: then returns false. `lead` is
  // called to poll in the meantime: lead(lock, done, deadline) returns what await() is to return.
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

  // Sleeps until the next wake_all(). False: the deadline passed first.
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

  // To be called under the lock, after a transfer has ended.
  void wake_all() {
    if (waiting_ == 0) return;
    ++event_;
    contenders_ += waiting_;
    waiting_ = 0;
    changed_.notify_all();
  }

  // To be called between polls: a thread that asks again at once would keep the lock from all others.
  void let_others_in(Lock& lock) {
    if (contenders_.load(std::memory_order_relaxed) == 0) return;
    lock.unlock();
    for (int i = 0; i < 100 && contenders_.load(std::memory_order_relaxed) > 0; ++i)
      std::this_thread::yield();
    lock.lock();
  }

 private:
  // Marks this thread as the leader while it lives; when it ends, even by an exception, another thread leads.
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
  std::atomic<int> contenders_{0};  // the number of threads that want the lock now
  bool is_taken_ = false;
  int waiting_ = 0;
  std::uint64_t event_ = 0;
};

}  // namespace dist::net
