// Stray processes: what a stopped grading has left running. A process that loses its parent becomes ours, so
// that it can be found.
#pragma once

namespace distlab {

// From now on, for this process.
void adopt_stray_processes();

// Ends all children of this process, and theirs, as far as the system names them. When nothing is needed of
// any child any more.
void end_stray_processes();

}  // namespace distlab
