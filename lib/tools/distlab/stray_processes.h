// Stray processes: those that an interrupted grading has left running. They lose their parent and become our
// children, so that we can find them.
#pragma once

#include <vector>

#include <sys/types.h>

namespace distlab {

// From now on, stray processes become children of this process.
void adopt_stray_processes();

// Reaps stray processes that have ended, because the grading of a large class would otherwise use up the
// system's process numbers. Does not touch `jobs`, which other code waits for.
void reap_stray_processes(const std::vector<pid_t>& jobs);

// Ends all children of this process and their children, as far as the system lists them. Call it when no
// child is needed any more.
void end_stray_processes();

}  // namespace distlab
