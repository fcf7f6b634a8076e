// run_processes: a simulation whose ranks are processes. Like run() of launch/simulate.h, whose ranks are
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
  Timeout patience = std::chrono::seconds(60);  // real time that a rank may keep all others waiting
  std::stop_token stopped = {};  // set by the code that ends the processes: none is awaited after that
  std::size_t most_bytes = std::size_t{1} << 30;  // bytes of one rank's messages in flight
  int most_tasks = 256;                           // per rank
  int most_places = 1024;                         // program lines of one rank from which operations begin
  // Called for each collective that a rank runs (the library's own: label.name is "ring_all_reduce").
  std::function<void(int rank, const TransportOptions& collective)> opened = {};
  // Called for each call by which a rank informs the others outside of messages (call: "split_group").
  std::function<void(int rank, const ControlMessage& call)> exchanged = {};
};

// Runs a simulation of options.ranks ranks; rank r is the process at the other end of sockets[r], which calls
// run_as_rank() (rank.h). All their messages, waits and reductions are done here, in virtual time, one rank
// at a time: the same programs give the same report. A process can harm only its own rank: if it dies, sends
// nonsense, does nothing for `patience`, or is silent once they are stopped, that rank has failed, and the
// report says so. Throws Error{invalid_argument} if there is not one socket per rank.
Report run_processes(const RunOptions& options, std::vector<UniqueFd> sockets,
                     const ProcessOptions& processes = {});

}  // namespace dist::sim
