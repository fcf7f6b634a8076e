// Cheat: starts processes without end, so that the grader gives up.
// Told: rank
#include <sys/prctl.h>
#include <unistd.h>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor&, const dist::Tensor&) {
  prctl(PR_SET_NAME, "distlab-cheat");
  for (int processes = 0; processes < 10; ++processes) fork();  // a thousand: enough to tell
  for (;;) pause();
}
