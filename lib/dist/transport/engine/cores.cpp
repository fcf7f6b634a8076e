#include "dist/transport/engine/cores.h"

#include <sched.h>

namespace dist::net {

int show_core(SharedSegmentHeader& own) noexcept {
  const int core = ::sched_getcpu() + 1;
  if (seen_core(own) != core) own.core.store(core, std::memory_order_relaxed);  // other ranks read this line
  return core;
}

void leave_cores(const std::vector<int>& taken) noexcept {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  for (const int core : taken)
    if (core > 0 && core <= CPU_SETSIZE) CPU_CLR(core - 1, &others);
  if (CPU_COUNT(&others) == 0) return;
  if (::sched_setaffinity(0, sizeof others, &others) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace dist::net
