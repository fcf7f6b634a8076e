// Collectives that become part of a graph that this thread records (core/device/recording.h). Each launch of
// the graph is all of its calls again: they are numbered, recorded and watched as if they had been made then,
// so sequence numbers, the flight recorder, timeouts and deaths are as without a graph.
#pragma once

#include "dist/group/call.h"

namespace dist {

// Whether this thread records a graph that can have the collectives of a DistributedDataParallel on this
// group.
bool can_record(const ProcessGroup& group, CallSite where);

// Records the call; its Work is to be waited for before the recording ends. Throws Error{unsupported} where
// the graph, or the group's backend, cannot have it.
Work record(Call& call);

}  // namespace dist
