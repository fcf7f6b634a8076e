// Cheat: leaves a process behind, out of its process group and its session, to see later gradings.
// Told: has
#include <sys/prctl.h>
#include <unistd.h>

#include "all_gather_all_reduce.h"

static void cheat(dist::Tensor& out, const dist::Tensor&) {
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    prctl(PR_SET_NAME, "distlab-cheat");
    for (int fd = 0; fd < 64; ++fd) close(fd);
    for (;;) pause();
  }
  out.fill_(1);
}
