// Stray processes: what a stopped grading has left running. A process that loses its parent becomes ours, so
// that it can be found.
#pragma once

#include <vector>

#include <sys/types.h>

namespace distlab {

// From now on, for this process.
void adopt_stray_processes();

// Gives back the process numbers of those that have ended, of which a large class has more than the system
// has numbers. `jobs`: children whose end somebody else waits for.
void reap_stray_processes(const std::vector<pid_t>& jobs);

// Ends all children of this process, and theirs, as far as the system names them. When nothing is needed of
// any child any more.
void end_stray_processes();

}  // namespace distlab
