// Sleep fence: the order between "here is something" and "do you sleep?". Whoever posts something stores it
// and then looks whether the reader sleeps; whoever is about to sleep says so and then looks once more.
// Unless both happen in that order everywhere, a wake-up can be lost.
//
// A fence in every post costs as long as its cache line takes to come from the other core. So the rank that
// is about to sleep pays for all: membarrier(2) fences every core of the host on which a registered process
// runs, and a post is a plain store. Where the kernel has none, or ranks sleep often because they outnumber
// the cores, posts are sequentially consistent.
#pragma once

#include <atomic>

namespace dist::net {

// Whether this process's threads are fenced by fence_everybody() in any process of this host. The first call
// registers it.
bool is_fenced_by_sleepers() noexcept;

// As a sequentially consistent fence on all threads of all such processes: some microseconds. Only where this
// process is registered, too.
void fence_everybody() noexcept;

// Stores what a later look at a sleeping flag is about. `fenced`: who sleeps calls fence_everybody() first.
template <class T>
void post(std::atomic<T>& to, T value, bool fenced) {
  if (!fenced) return to.store(value);
  to.store(value, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the order, too
}

}  // namespace dist::net
