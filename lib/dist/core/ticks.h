// Ticks: time stamps that cost less than a call of the clock, for what is recorded with every operation.
#pragma once

#include <cstdint>

#include "dist/core/tasking.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace dist {

// Reads the processor's counter if that runs at one rate on all cores; otherwise, and for virtual ranks, the
// clock's nanoseconds. Made for one rank, so that all its stamps are of one kind.
class TickClock {
 public:
  using Time = Clock::time_point;
  TickClock();

  std::uint64_t now() const {
#ifdef __x86_64__
    if (counts_) return __rdtsc();
#endif
    return nanoseconds(Clock::now());
  }
  // Both clocks at the same moment: two readings, the first one and `later`, turn stamps into times.
  struct Reading {
    std::uint64_t ticks = 0;
    Time time;
  };
  Reading read() const { return {now(), Clock::now()}; }
  Time time_of(std::uint64_t ticks, const Reading& later) const;

 private:
  static std::uint64_t nanoseconds(Time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch() / std::chrono::nanoseconds(1));
  }
  bool counts_ = false;
  Reading first_;
};

}  // namespace dist
