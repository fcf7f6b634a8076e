// Gate: the entrance to something that may be destroyed while threads use it. The thread that closes it
// can tell when all threads inside have left; no thread enters any more. It is biased like a
// BiasedLock: passing costs one thread, its owner, two plain stores and a load, and the thread that closes
// pays for that by membarrier(2).
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "dist/core/biased_lock.h"
#include "dist/core/membarrier.h"

namespace dist {

// Thread-safe, apart from renew(). Closed at first.
class Gate {
 public:
  class Pass;

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() noexcept { open_.store(true, std::memory_order_release); }
  void close() noexcept;  // afterwards no thread passes; those inside stay
  bool is_empty() const noexcept { return owner_inside_.load() == 0 && others_inside_.load() == 0; }
  // Makes it as new, for a forked child, in which the threads that were inside do not exist.
  void renew() noexcept;

 private:
  // The owner announces that it is inside and then checks whether the gate is open; the thread that closes
  // says so, fences the owner, and then checks who is inside. So at least one of the two sees the other.
  bool enter_as_owner() {
    owner_inside_.store(owner_inside_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return is_still_open(true);
  }
  bool enter_as_other();
  bool is_still_open(bool as_owner) {
    if (open_.load()) return true;
    leave(as_owner);
    return false;
  }
  void leave(bool as_owner) noexcept {
    if (as_owner)
      owner_inside_.store(owner_inside_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    else
      others_inside_.fetch_sub(1, std::memory_order_release);
  }

  std::atomic<std::uint64_t> owner_{0};  // a thread_number(); 0: no thread has passed yet
  std::atomic<int> owner_inside_{0};     // how many times: passes may be nested
  std::atomic<int> others_inside_{0};
  std::atomic<bool> open_{false};
};

// While it lives, its thread is inside, if the gate was open.
class Gate::Pass {
 public:
  explicit Pass(Gate& gate)
      : as_owner_(gate.owner_.load(std::memory_order_relaxed) == thread_number()),
        gate_(as_owner_               ? gate.enter_as_owner() ? &gate : nullptr
              : gate.enter_as_other() ? &gate
                                      : nullptr) {}
  Pass(Pass&& other) noexcept : as_owner_(other.as_owner_), gate_(std::exchange(other.gate_, nullptr)) {}
  Pass& operator=(Pass&&) = delete;
  ~Pass() {
    if (gate_) gate_->leave(as_owner_);
  }
  explicit operator bool() const { return gate_ != nullptr; }

 private:
  bool as_owner_;
  Gate* gate_;  // null: the gate was closed
};

// The first thread that passes becomes the owner.
inline bool Gate::enter_as_other() {
  others_inside_.fetch_add(1);
  if (!is_still_open(false)) return false;
  std::uint64_t nobody = 0;
  if (owner_.load(std::memory_order_relaxed) == 0 && are_own_threads_fenced())
    owner_.compare_exchange_strong(nobody, thread_number());
  return true;
}

inline void Gate::close() noexcept {
  open_.store(false);
  if (const std::uint64_t owner = owner_.load(); owner != 0 && owner != thread_number())
    membarrier_surely(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

inline void Gate::renew() noexcept {
  open_ = false;
  owner_ = 0;
  owner_inside_ = others_inside_ = 0;
}

}  // namespace dist
