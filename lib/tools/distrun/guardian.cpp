#include "guardian.h"

#include <cerrno>
#include <set>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {
namespace {

[[noreturn]] void guard(int line) {
  setsid();  // the terminal's Ctrl-C must not reach the guardian
  prctl(PR_SET_NAME, "distrun-guard");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
  close_range(0, static_cast<unsigned>(line) - 1, 0);
  close_range(static_cast<unsigned>(line) + 1, ~0U, 0);
  std::set<pid_t> groups;
  for (pid_t message = 0;;) {
    const ssize_t n = read(line, &message, sizeof message);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof message)) break;
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

Guardian::Guardian() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) dist::fail_errno(dist::Errc::resource, errno, "distrun: pipe");
  dist::UniqueFd heard(fds[0]);
  line_ = dist::UniqueFd(fds[1]);
  pid_ = fork();
  if (pid_ < 0) dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot start another process");
  if (pid_ > 0) return;
  line_.reset();
  guard(heard.get());
}

Guardian::~Guardian() {
  line_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::tell(pid_t message) const {
  // If the guardian was killed, that matters only when distrun is killed as well.
  [[maybe_unused]] const ssize_t n = write(line_.get(), &message, sizeof message);
}

}  // namespace distrun
