// run_processes: a simulation whose ranks are processes. Like run() of launch/simulate.h, whose ranks are
// fibers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "dist/core/call_site.h"
#include "dist/core/handles.h"
#include "dist/core/op_kind.h"
#include "dist/group/control.h"
#include "dist/simulate/simulate.h"

namespace dist::sim {

struct ProcessOptions {
  Timeout patience = std::chrono::seconds(60);  // real time that a rank may let all others wait
  std::stop_token stopped = {};  // by the code that ends the processes: from then on no process is waited for
  std::size_t most_bytes = std::size_t{1} << 30;  // of all messages under way
  std::size_t most_open = 1 << 14;                // operations, transfers, waiting tasks' lists of one rank
  int most_tasks = 256;                           // of one rank
  std::size_t longest_question = std::size_t{256} << 10;  // bytes, without a message's
  int most_places = 1024;  // in one rank's program, from which operations begin
  // Called for each collective of the library that a rank calls, before it runs. `bytes`: of this rank's
  // part, as a trace says them.
  std::function<void(int rank, OpKind kind, CallSite where, std::uint64_t bytes)> collective = {};
  // Called for each call by which a rank tells the others something without a message (call: "split_group").
  std::function<void(int rank, const ControlMessage& call)> exchanged = {};
  // Called for each message that a rank sends, when it hands over its bytes, by the virtual clock.
  std::function<void(int rank, std::chrono::nanoseconds at, std::span<const std::byte> bytes)> sent = {};
};

// Runs a simulation of options.ranks ranks; rank r is the process at the other end of sockets[r], which calls
// run_as_rank() (rank.h). All their messages, waits and reductions are done here, in virtual time, one rank
// at a time: the same programs give the same report. A process can harm only its own rank: if it dies, sends
// nonsense, does nothing for `patience`, or is silent once they are stopped, that rank has failed, and the
// report says so. Throws Error{invalid_argument} if there is not one socket per rank.
Report run_processes(const RunOptions& options, std::vector<UniqueFd> sockets,
                     const ProcessOptions& processes = {});

}  // namespace dist::sim
