// Spin: how long a waiting rank polls before it sleeps. Polling finds a message within a fraction of a
// microsecond, but it is wasted, and keeps others from running, when the message is far away or its sender
// has no CPU. The spin time adapts: it shrinks after each poll that finds nothing, and is reset to the
// maximum when something arrives that a full-length spin would have caught, whether this rank was still
// spinning or already asleep. (Otherwise two ranks that once wait for each other asleep would go on doing so,
// because waking up takes longer than the message.) Now and then a full-length spin is tried.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace dist::net {

// The pause between two polls of a cache line that another core is about to write. Each poll takes the line
// away from that core: without pauses, ranks that exchange notices need a tenth to a third more time.
inline void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls up to `times` times, with a pause after each.
template <class Done>
bool look(const Done& done, int times) {
  for (; times > 0; --times) {
    if (done()) return true;
    net::relax_cpu();
  }
  return false;
}

class Spin {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Spin(std::chrono::nanoseconds most) : most_(most), patience_(most) {}

  // To be called before a wait, and after each sleep.
  void restart() {
    looks_ = 0;
    now_ = ++waits_ % waits_a_trial == 0 ? most_ : patience_;
  }
  // To be called when something arrived.
  void found() {
    const bool was_worth_it = gave_up_ ? Clock::now() - since_ < most_ : looks_ >= looks_a_burst;
    if (was_worth_it) patience_ = most_;
    looks_ = 0;
    gave_up_ = false;
  }
  bool is_over() {
    if (most_.count() == 0) return true;
    if (looks_ == 0) {
      since_ = Clock::now();
      gave_up_ = false;
    }
    if (++looks_ % looks_a_burst != 0 || Clock::now() - since_ < now_) return false;
    patience_ = std::max(patience_ / 4, std::min(most_, least));
    gave_up_ = true;
    return true;
  }

 private:
  static constexpr std::uint32_t looks_a_burst = 64;  // polls between two readings of the clock
  static constexpr std::uint32_t waits_a_trial = 32;
  static constexpr std::chrono::nanoseconds least{1000};

  std::chrono::nanoseconds most_, patience_;
  std::chrono::nanoseconds now_{0};  // the patience of this wait
  std::uint32_t looks_ = 0, waits_ = 0;
  bool gave_up_ = false;  // this rank stopped polling, and nothing has arrived since
  Clock::time_point since_;
};

}  // namespace dist::net
