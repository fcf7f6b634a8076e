#include "signals.h"

#include <cerrno>
#include <fstream>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {
namespace {

// How a user ends distrun.
sigset_t ending() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

}  // namespace

Signals::Signals() {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t set = ending();
  for (const int number : {SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = dist::UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) dist::fail_errno(dist::Errc::resource, errno, "distrun: signalfd");
}

int Signals::next() {
  signalfd_siginfo info{};
  return read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

void Signals::let_through() const {
  const sigset_t set = ending();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Signals::hold() const {
  const sigset_t set = ending();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void end_orphans(pid_t keep) {
  for (int rounds = 0; rounds < 100; ++rounds) {
    std::ifstream list(fmt::format("/proc/self/task/{}/children", getpid()));
    bool any = false;
    for (pid_t pid = 0; list >> pid;) {
      if (pid == keep) continue;
      kill(pid, SIGKILL);
      any = true;
    }
    if (!any) return;
    siginfo_t info{};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0) {
    }
    usleep(1000);
  }
}

}  // namespace distrun
