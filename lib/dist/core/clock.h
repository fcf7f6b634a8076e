// The clock that all waits use: the system's, or the simulator's (tasking.h).
#pragma once

#include <chrono>

namespace dist {

// The steady clock; under a Tasking, its virtual clock.
struct Clock {
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  static time_point now();
};

// Sleeps; in a simulation only virtually, which costs no real time. Throws Error{invalid_argument} if that
// would take the simulator's clock past 2e6 s (simulate.h). Programs use it instead of
// std::this_thread::sleep_for.
void sleep(std::chrono::nanoseconds duration);

}  // namespace dist
