// BiasedLock: a lock that is nearly free for one thread, its owner, which is the first thread that takes it.
// The owner pays two plain stores and a load. An ordinary lock costs an atomic exchange, which also waits
// until all earlier stores are in the cache, and a store to what another rank reads takes as long as a
// message. The other threads pay for that: each makes the owner's core execute a fence by membarrier(2), some
// microseconds, and after a few of these visits the lock becomes an ordinary one for good. So it suits data
// that one thread uses in every call, and other threads either seldom or all the time.
#pragma once

#include <atomic>
#include <cstdint>

namespace dist {

std::uint64_t next_thread_number() noexcept;

// The number of this thread; 0 stands for no thread.
inline std::uint64_t thread_number() noexcept {
  static thread_local std::uint64_t number = 0;
  if (number == 0) number = next_thread_number();
  return number;
}

// Lockable. For all threads but the owner it is the Mutex (a mutex or a SpinLock).
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
  // The owner announces that it holds the lock and then checks whether others want it; they announce that
  // they want it, fence the owner, and then check whether it holds the lock. So at least one side sees the
  // other.
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
  Mutex mutex_;                      // guards visits_, and all that the lock guards while it is shared
  int visits_ = 0;                   // by other threads
};

}  // namespace dist
