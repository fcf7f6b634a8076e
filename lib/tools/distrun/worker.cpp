#include "worker.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "dist/core/fail.h"

namespace distrun {
namespace {

using dist::Errc;
using dist::fail;
using dist::UniqueFd;

[[noreturn]] void no_descriptor(const char* what) {
  dist::fail_errno(
      Errc::resource, errno,
      fmt::format("distrun: cannot open a rank's {} (each rank needs a few descriptors; see ulimit -n)",
                  what));
}

struct Pipe {
  UniqueFd read, write;
};

Pipe make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) no_descriptor("pipe");
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// A pseudo-terminal that passes bytes as they are.
Pipe make_terminal() {
  Pipe ends{UniqueFd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), UniqueFd()};
  if (!ends.read || grantpt(ends.read.get()) != 0 || unlockpt(ends.read.get()) != 0) return make_pipe();
  char name[128];
  if (ptsname_r(ends.read.get(), name, sizeof name) != 0) return make_pipe();
  ends.write = UniqueFd(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!ends.write || tcgetattr(ends.write.get(), &settings) != 0) return make_pipe();
  cfmakeraw(&settings);
  tcsetattr(ends.write.get(), TCSANOW, &settings);
  return ends;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

// Between fork and exec only a few calls are safe, so everything that the child needs is prepared here.
struct ChildPlan {
  const char* path;
  char** arguments;
  char** environment;
  int in, out, err, failed;
  pid_t parent;
  const InheritedSignals& signals;
};

[[noreturn]] void run_child(const ChildPlan& plan) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.parent) _exit(1);
  plan.signals.restore();
  if ((plan.in >= 0 && dup2(plan.in, 0) < 0) || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) _exit(1);
  execve(plan.path, plan.arguments, plan.environment);
  const int why = errno;
  if (write(plan.failed, &why, sizeof why) < 0) _exit(126);
  _exit(127);
}

[[noreturn]] void refuse_program(const std::string& name, const std::string& path, int why) {
  const bool python = name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0;
  const char* hint = "";
  if (python)
    hint = "; to start a Python program, write: distrun ... python3 FILE";
  else if (why == ENOENT && access(path.c_str(), F_OK) == 0)
    hint = "; its interpreter or loader is missing; check the path in its first line";
  else if (why == ENOENT)
    hint = "; check the path, or build the program first";
  else if (why == ENOEXEC)
    hint = "; a script needs a first line like #!/bin/sh";
  else if (why == EACCES)
    hint = "; make it executable: chmod +x";
  fail(Errc::invalid_argument, "distrun: cannot run {}: {}{}", name, strerror(why), hint);
}

// 0, or the errno that says why this file cannot be run.
int why_not(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

Command find_program(const std::vector<std::string>& program) {
  const std::string& name = program.front();
  if (name.find('/') != std::string::npos) {
    if (const int why = why_not(name); why != 0) refuse_program(name, name, why);
    return {name, program};
  }
  const char* variable = getenv("PATH");
  std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int why = ENOENT;
  for (path += ':'; !path.empty(); path.erase(0, path.find(':') + 1)) {
    const std::string folder = path.substr(0, path.find(':'));
    const std::string candidate = (folder.empty() ? "." : folder) + '/' + name;
    const int here = why_not(candidate);
    if (here == 0) return {candidate, program};
    if (here == EACCES) why = EACCES;
  }
  if (why == ENOENT && why_not("./" + name) == 0) {
    fail(Errc::invalid_argument,
         "distrun: cannot run {0}: it is not on PATH; write ./{0} to run the one in this folder", name);
  }
  refuse_program(name, "", why);
}

Worker::Worker(const Command& command, const Setup& setup) {
  Pipe out = setup.on_terminal ? make_terminal() : make_pipe();
  Pipe err = make_pipe(), failed = make_pipe();
  const UniqueFd null(setup.reads_stdin ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!setup.reads_stdin && !null) no_descriptor("input");
  const auto arguments = pointers(command.arguments), environment = pointers(setup.environment);
  const ChildPlan plan{command.path.c_str(),
                       const_cast<char**>(arguments.data()),
                       const_cast<char**>(environment.data()),
                       null.get(),
                       out.write.get(),
                       err.write.get(),
                       failed.write.get(),
                       getpid(),
                       setup.signals};
  pid_ = fork();
  if (pid_ < 0) dist::fail_errno(Errc::resource, errno, "distrun: cannot start another process");
  if (pid_ == 0) run_child(plan);
  setpgid(pid_, pid_);  // also here, because signals may be sent before the child has called it
  failed.write.reset();
  int why = 0;
  if (read(failed.read.get(), &why, sizeof why) > 0) {  // end of file: exec has closed it
    waitpid(pid_, nullptr, 0);
    reaped_ = true;
    refuse_program(command.arguments.front(), command.path, why);
  }
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const int fd : {out_.get(), err_.get()}) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Worker::Worker(Worker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      reaped_(other.reaped_),
      status_(other.status_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

Worker::~Worker() {
  if (pid_ <= 0 || reaped_) return;
  send_signal(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Worker::send_signal(int number) const {
  if (pid_ > 0 && !reaped_) kill(-pid_, number);
}

bool Worker::reap() {
  if (pid_ <= 0 || reaped_) return reaped_;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return false;
  send_signal(SIGKILL);  // until the leader is reaped, no other group can get its number
  waitpid(pid_, &status_, 0);
  reaped_ = true;
  return true;
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation != nullptr ? fmt::format("SIG{}", abbreviation) : fmt::format("signal {}", number);
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace distrun
