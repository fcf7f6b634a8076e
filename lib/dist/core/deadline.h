// A point on the clock (core/clock.h) by which something must have happened.
#pragma once

#include <algorithm>
#include <chrono>

#include "dist/core/clock.h"

namespace dist {

using Timeout = std::chrono::nanoseconds;  // a duration

inline constexpr Timeout no_timeout = Timeout::max();  // wait forever
// As in torch.distributed for CPU backends: half an hour. DIST_TIMEOUT (seconds) replaces it.
inline constexpr Timeout default_timeout = std::chrono::minutes(30);

// The moment by which something must be done: what a Timeout becomes once it has begun.
class Deadline {
 public:
  using Clock = dist::Clock;  // the system's, or the simulator's

  // No deadline at all.
  static Deadline never() { return Deadline(Clock::time_point::max()); }
  // `no_timeout` and anything beyond a century is `never`.
  static Deadline after(Timeout timeout) {
    constexpr auto century = std::chrono::hours(24 * 365 * 100);
    return timeout >= century ? never() : Deadline(Clock::now() + timeout);
  }

  Clock::time_point when() const { return at_; }  // max() when there is none
  // The deadline at that moment.
  static Deadline at(Clock::time_point when) { return Deadline(when); }

  // Whether there is no deadline.
  bool is_never() const { return at_ == Clock::time_point::max(); }
  // Whether the deadline has passed.
  bool passed() const { return !is_never() && Clock::now() >= at_; }
  // Time left, never negative; `no_timeout` when there is no deadline.
  Timeout left() const {
    if (is_never()) return no_timeout;
    return std::max<Timeout>(Timeout::zero(), at_ - Clock::now());
  }
  // For poll(2) and friends: milliseconds left rounded up, -1 when there is no deadline, at most an hour.
  int poll_ms() const {
    if (is_never()) return -1;
    auto ms = std::chrono::ceil<std::chrono::milliseconds>(left()).count();
    return static_cast<int>(std::min<long long>(ms, 3'600'000));
  }
  // The earlier of the two.
  static Deadline sooner(Deadline a, Deadline b) { return a.at_ < b.at_ ? a : b; }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace dist
