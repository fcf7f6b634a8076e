// Makes a process one virtual rank of a simulation in another process.
#pragma once

#include <functional>

#include "dist/core/handles.h"

namespace dist::sim {

// Calls fn(rank) as one of the ranks of run_processes() (host.h) at the other end of `socket`, a connected
// stream socket. As inside run(): init_process_group() finds its job by itself, time is virtual, and what the
// rank does is checked. Call it once per process, on the thread that fn is to run on. Returns true if fn
// returned; false if it threw, which has been reported to the simulation. Throws Error{connection} when the
// simulation has ended.
bool run_as_rank(UniqueFd socket, const std::function<void(int rank)>& fn);

}  // namespace dist::sim
