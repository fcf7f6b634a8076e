// A rank that leaves its job without destroy_process_group().
#pragma once

#include <string>

#include "dist/group/job_state.h"

namespace dist {

// From now on the rank of this process leaves its job when the program exits; with `keeps_trace`, an uncaught
// exception saves the trace. To be called after everything that init_process_group makes.
void leave_at_exit(bool keeps_trace);

// Leaves without waiting, as JobState::close() does. For the thread that has the turn (RankContext::turn()).
void leave_now(RankContext& context, const std::string& reason) noexcept;

}  // namespace dist
