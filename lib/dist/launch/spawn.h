// spawn: n ranks from one program, like torch.multiprocessing.spawn.
#pragma once

#include <functional>

#include "dist/core/deadline.h"

namespace dist {

// What a rank of spawn() is: a process of its own, or a thread of this process.
enum class Ranks { processes, threads };

// The options of spawn().
struct SpawnOptions {
  Ranks as = Ranks::processes;  // what each rank is
  // How long the others may take to report after the first failure; then they are killed.
  Timeout grace = std::chrono::seconds(5);
};

// Calls fn(rank) on n ranks and returns when all have finished; inside, init_process_group() finds its job by
// itself. Throws the first rank's failure as Error{peer_failed}: "rank 2: <its message>", or "rank 1 was
// killed by signal 9 (Killed)". Processes are forked: fn sees copies of the caller's variables, and what it
// writes stays in its process.
//
// With DIST_TRACE=file the ranks' traces are joined into that file (trace/parts.h), even if a rank has
// failed.
//
// With the environment variable DIST_SIM, for instance "ranks=1024,topology=summit", ranks are virtual
// instead (and without `ranks=` there are n), as in sim::run (launch/spawn_simulated.h; ./distlab sim
// ./program sets it).
void spawn(int n, const std::function<void(int rank)>& fn, const SpawnOptions& options = {});
// The same with default options.
void spawn(int n, const std::function<void(int rank)>& fn, Ranks as);

}  // namespace dist
