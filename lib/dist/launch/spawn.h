// spawn: n ranks from one program, as torch.multiprocessing.spawn.
#pragma once

#include <functional>

#include "dist/core/deadline.h"

namespace dist {

// What a rank of spawn() is: a process of its own, or a thread of this one.
enum class Ranks { processes, threads };

// What spawn() is told.
struct SpawnOptions {
  Ranks as = Ranks::processes;  // what each rank is
  Timeout grace =
      std::chrono::seconds(5);  // for the others to report after the first failure; then they are killed
};

// Calls fn(rank) on n ranks and returns when all have finished; inside, init_process_group() finds its job by
// itself. Throws the first rank's failure as Error{peer_failed}: "rank 2: <its message>", "rank 1 was killed
// by signal 9 (Killed)". Processes are forked: fn sees copies of the caller's variables; memory it writes is
// its own.
//
// With DIST_TRACE=file the ranks' traces are joined to that file (trace/parts.h), also when a rank has
// failed.
//
// With the environment variable DIST_SIM, for instance "ranks=1024,topology=summit", ranks are virtual
// instead, as in sim::run (launch/spawn_simulated.h; ./distlab sim ./program sets it).
void spawn(int n, const std::function<void(int rank)>& fn, const SpawnOptions& options = {});
// The same with default options.
void spawn(int n, const std::function<void(int rank)>& fn, Ranks as);

}  // namespace dist
