#include "signals.h"

#include <cerrno>
#include <fstream>
#include <initializer_list>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {
namespace {

// All of `numbers` that distrun did not inherit as ignored.
sigset_t heard_of(std::initializer_list<int> numbers, const InheritedSignals& inherited) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) {
    if (!inherited.ignores(number)) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

InheritedSignals::InheritedSignals() {
  sigemptyset(&ignored_);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      sigaddset(&ignored_, number);
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
}

bool InheritedSignals::ignores(int number) const { return sigismember(&ignored_, number) == 1; }

void InheritedSignals::restore() const {
  if (!ignores(SIGPIPE)) signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

Signals::Signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // if it were ignored, the system would reap the ranks
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t set = heard_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2}, inherited_);
  sigaddset(&set, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = dist::UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) dist::fail_errno(dist::Errc::resource, errno, "distrun: signalfd");
}

int Signals::next() {
  constexpr auto echo_patience = std::chrono::seconds(1);
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  const int number = static_cast<int>(info.ssi_signo);
  if (number == SIGCHLD) return number;
  const auto sender = static_cast<pid_t>(info.ssi_pid);
  const bool is_others = last_.code != info.ssi_code || last_.sender != sender;
  is_echo_ = last_.number == number && is_others && !last_.until.passed();
  last_ = {number, info.ssi_code, sender, dist::Deadline::after(echo_patience)};
  return number;
}

sigset_t Signals::usual() const { return heard_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}, inherited_); }

void Signals::let_through() const {
  const sigset_t set = usual();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Signals::hold() const {
  const sigset_t set = usual();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool Signals::stop_here() const {
  sigset_t stop, pending;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // stopped here
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigpending(&pending);
  return sigismember(&pending, SIGCONT) == 1;  // whether SIGCONT woke us
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
