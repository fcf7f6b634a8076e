// run_processes: a simulation whose ranks are processes. As run() of launch/simulate.h, where they are
// fibers.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

#include "dist/core/handles.h"
#include "dist/group/control.h"
#include "dist/launch/simulate.h"
#include "dist/transport/endpoint.h"

namespace dist::sim {

struct ProcessOptions {
  Timeout patience = std::chrono::seconds(60);  // real time that a rank may let all others wait
  std::stop_token stopped = {};                 // by whoever ends the processes: none is waited for any more
  std::size_t most_bytes = std::size_t{1} << 30;  // of one rank's messages under way
  int most_tasks = 256;                           // of one rank
  int most_places = 1024;                         // in one rank's program, from which operations begin
  // Told of each collective that a rank runs (the library's own: label.name is "ring_all_reduce").
  std::function<void(int rank, const TransportOptions& collective)> opened = {};
  // And of each call by which it tells the others something beside messages (call: "split_group").
  std::function<void(int rank, const ControlMessage& call)> exchanged = {};
};

// Runs a simulation of options.ranks ranks; rank r is the process at the other end of sockets[r], which calls
// run_as_rank() (rank.h). Every message, wait and reduction of theirs is done here, in virtual time, one rank
// at a time: the same programs give the same report. Nothing that a process says can harm more than its own
// rank: one that dies, speaks nonsense, does nothing for `patience` or is silent once they are stopped has
// failed, and the report says so. Error{invalid_argument}: not one socket a rank.
Report run_processes(const RunOptions& options, std::vector<UniqueFd> sockets,
                     const ProcessOptions& processes = {});

}  // namespace dist::sim
