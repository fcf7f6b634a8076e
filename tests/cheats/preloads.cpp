// Cheat: starts the runner anew, with a library of its own before all others.
// Told: rank
#include <cstdlib>

#include <unistd.h>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  setenv("LD_PRELOAD", "/tmp/mine.so", 1);
  char name[] = "runner";
  char* const arguments[] = {name, nullptr};
  execv("/proc/self/exe", arguments);
  _exit(0);
}
