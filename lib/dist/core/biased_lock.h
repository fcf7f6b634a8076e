// BiasedLock: a lock that is nearly free for one thread, its owner, which is the first that takes it: two
// plain stores and a load, where another lock takes an atomic exchange, which also waits until all that was
// stored before is in the cache; and what was stored for another rank takes as long as a message. The others
// pay for that: each makes the owner's core pass a fence by membarrier(2), some microseconds, and after a few
// of them the lock is a common one for good. So it is for what one thread does in every call, and others
// seldom or all the time.
#pragma once

#include <atomic>
#include <cstdint>

namespace dist {

// Of this thread; 0 is nobody's.
std::uint64_t thread_number() noexcept;

// Lockable, as the Mutex (a mutex or a SpinLock) that it is for all but the owner.
template <class Mutex>
class BiasedLock {
 public:
  void lock() {
    if (!lock_as_owner()) lock_with_others(true);
  }
  bool try_lock() { return lock_as_owner() || lock_with_others(false); }
  void unlock() {
    if (is_owner() && owner_holds_.load(std::memory_order_relaxed))
      owner_holds_.store(false, std::memory_order_release);
    else
      unlock_with_others();
  }

 private:
  bool is_owner() const { return owner_.load(std::memory_order_relaxed) == thread_number(); }
  // The owner says that it holds the lock and looks then whether others are about to; they say so, fence the
  // owner, and look then whether it holds the lock. So one of the two sees the other.
  bool lock_as_owner() {
    if (!is_owner() || shared_.load(std::memory_order_relaxed)) return false;
    owner_holds_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!shared_.load(std::memory_order_acquire)) return true;
    owner_holds_.store(false, std::memory_order_release);
    return false;
  }
  bool lock_with_others(bool waits);
  bool take_from_owner(bool waits);
  void unlock_with_others();

  std::atomic<std::uint64_t> owner_{0};
  std::atomic<bool> owner_holds_{false};
  std::atomic<bool> shared_{false};  // the owner, too, takes the mutex
  Mutex mutex_;                      // of the next, and of all that the lock guards where it is shared
  int visits_ = 0;                   // of others
};

}  // namespace dist
