// A simulation whose ranks are forked processes.
#pragma once

#include <functional>

#include "dist/simulate/remote/host.h"

namespace dist::test {

// What a forked child does with its end of the channel; it then leaves with status 0.
using RankProcess = std::function<void(int rank, UniqueFd socket)>;

// once_forked: for the threads of a test, which must not run while it forks, because a child in which another
// thread held the allocator's lock waits for that lock forever.
sim::Report simulate_processes(const sim::RunOptions& options, const RankProcess& process,
                               const sim::ProcessOptions& limits = {},
                               const std::function<void()>& once_forked = {});

// Each child calls rank_main as a virtual rank.
sim::Report simulate_forked(const sim::RunOptions& options, const std::function<void(int rank)>& rank_main);

}  // namespace dist::test
