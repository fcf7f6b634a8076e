#include "dist/core/biased_lock.h"

#include <mutex>
#include <thread>

#include "dist/core/membarrier.h"
#include "dist/core/spin_lock.h"

namespace dist {
namespace {

// After this many visits by other threads, the lock stays shared.
constexpr int most_visits = 8;

}  // namespace

std::uint64_t next_thread_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

template <class Mutex>
bool BiasedLock<Mutex>::lock_with_others(bool waits) {
  if (waits)
    mutex_.lock();
  else if (!mutex_.try_lock())
    return false;
  if (is_owner()) return true;
  if (owner_.load(std::memory_order_relaxed) != 0) return take_from_owner(waits);
  shared_.store(!are_own_threads_fenced(), std::memory_order_relaxed);
  owner_.store(thread_number(), std::memory_order_relaxed);
  return true;
}

// Called with the mutex held; still holds it on success.
template <class Mutex>
bool BiasedLock<Mutex>::take_from_owner(bool waits) {
  if (!shared_.load(std::memory_order_relaxed)) {
    shared_.store(true, std::memory_order_relaxed);
    membarrier_surely(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    ++visits_;
  }
  while (owner_holds_.load(std::memory_order_acquire)) {
    if (!waits) {
      unlock_with_others();
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

template <class Mutex>
void BiasedLock<Mutex>::unlock_with_others() {
  if (visits_ < most_visits && are_own_threads_fenced()) shared_.store(false, std::memory_order_release);
  mutex_.unlock();
}

template class BiasedLock<SpinLock>;
template class BiasedLock<std::mutex>;

}  // namespace dist
