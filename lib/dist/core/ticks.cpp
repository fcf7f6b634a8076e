#include "dist/core/ticks.h"

#include "dist/core/tasking.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace dist {
namespace {

bool has_steady_counter() {
#ifdef __x86_64__
  constexpr unsigned leaf = 0x80000007, invariant = 1u << 8;  // "Invariant TSC"
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#else
  return false;
#endif
}

}  // namespace

TickClock::TickClock() : counts_(!Tasking::current() && has_steady_counter()), first_(read()) {}

TickClock::Time TickClock::time_of(std::uint64_t ticks, const Reading& later) const {
  if (!counts_) return Time(std::chrono::nanoseconds(ticks));
  if (later.ticks <= first_.ticks) return later.time;
  const double share = static_cast<double>(static_cast<std::int64_t>(ticks - first_.ticks)) /
                       static_cast<double>(later.ticks - first_.ticks);
  return first_.time + std::chrono::duration_cast<Clock::duration>((later.time - first_.time) * share);
}

}  // namespace dist
