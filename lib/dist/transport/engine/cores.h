// Cores: on which core each rank of a host was last seen waiting, so that a rank finds out that it is in the
// way of the one that it waits for. The system wakes a rank on its peer's core now and then and leaves it
// there: each waits for the other's time slice then, milliseconds for every message.
#pragma once

#include <vector>

#include "dist/transport/link/shared_segment.h"

namespace dist::net {

// A core's number plus 1, as in the shared segment; 0: not known.
inline int seen_core(const SharedSegmentHeader& rank) { return rank.core.load(std::memory_order_relaxed); }

// Tells the others where this thread, which waits for them, runs; that core.
int show_core(SharedSegmentHeader& own) noexcept;

// Moves this thread to a core that it may use and that is none of these, if there is one. It is not bound to
// it: the system may place it elsewhere from then on.
void leave_cores(const std::vector<int>& taken) noexcept;

}  // namespace dist::net
