// Asymmetric fence: the order between "here is something" and "are you asleep?". A rank that posts something
// stores it and then checks whether the reader sleeps; a rank that is about to sleep says so and then polls
// once more. Unless both do it in that order, a wake-up can be lost.
//
// A fence in every post would cost as long as its cache line takes to come from the other core. So the rank
// that is about to sleep pays for all: membarrier(2) fences every core of the host on which a registered
// process runs, and a post is a plain store. Where the kernel does not have it, or where ranks sleep often
// because they outnumber the cores, posts are sequentially consistent.
#pragma once

#include <atomic>

namespace dist::net {

// Whether a fence_everybody() in any process of this host also fences this process's threads. The first call
// registers this process.
bool is_fenced_by_sleepers() noexcept;

// Acts as a sequentially consistent fence on all threads of all registered processes: takes some
// microseconds. Only where this process is registered, too.
void fence_everybody() noexcept;

// Stores what a sleeping reader must find when it polls once more. `fenced`: that reader calls
// fence_everybody() first.
template <class T>
void post(std::atomic<T>& to, T value, bool fenced) {
  if (!fenced) return to.store(value);
  to.store(value, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the compiler from reordering, too
}

}  // namespace dist::net
