// Cores: the core on which each rank of a host was last seen waiting, by which a rank finds out that it keeps
// the rank it waits for from running. Now and then the system wakes a rank on its peer's core and leaves it
// there: then each waits for the other's time slice, milliseconds for every message.
#pragma once

#include <vector>

#include "dist/transport/link/shared_segment.h"

namespace dist::net {

// A core's number plus 1, as it is in the shared segment; 0: not known.
inline int seen_core(const SharedSegmentHeader& rank) { return rank.core.load(std::memory_order_relaxed); }

// Publishes the core on which this waiting thread runs, and returns it.
int show_core(SharedSegmentHeader& own) noexcept;

// Moves this thread to a core that it may use and that is not one of these, if there is one. The thread is
// not bound to that core: the system may move it from then on.
void leave_cores(const std::vector<int>& taken) noexcept;

}  // namespace dist::net
